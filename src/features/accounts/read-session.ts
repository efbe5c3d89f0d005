import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { Unauthorized } from '../../platform/kernel/errors.js';
import { viewOf } from './session.js';
import type { SessionView } from './sessions.dto.js';
import { Sessions } from './sessions.repository.js';

/** What a page of the admin area needs to know first. */
@Injectable()
export class ReadSession {
  constructor(private readonly sessions: Sessions) {}

  /** @throws Unauthorized when the session has ended meanwhile */
  async execute(caller: Caller, secret: string): Promise<SessionView> {
    const { workspaceId, userId, name: displayName, email } = caller;
    const session = await this.sessions.get(caller, caller.credentialId);
    const workspaces = await this.sessions.membershipsOf(userId);
    const workspace = workspaces.find((one) => one.workspaceId === workspaceId);
    if (!session || !workspace) throw new Unauthorized({ reason: 'ended_session' });
    const lacksSecondFactor = caller.lacksSecondFactor ?? false;
    return viewOf(
      { ...session, lacksSecondFactor },
      secret,
      { displayName, email },
      { workspace, workspaces },
    );
  }
}
