import { Injectable } from '@nestjs/common';
import { scopeOf } from '../../platform/auth/caller.js';
import { Callers } from '../../platform/auth/callers.js';
import { Db } from '../../platform/database/db.js';
import { DomainError } from '../../platform/kernel/define-error.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { wrongCredentials } from './accounts.errors.js';
import { EndSession } from './end-session.js';
import { ProveAccount } from './prove-account.js';
import type { SignInBody } from './sessions.dto.js';
import { type Membership, Sessions } from './sessions.repository.js';
import { SignInTries } from './sign-in-tries.js';
import { type Origin, type StartedSession, StartSession } from './start-session.js';

/** Signs in by mail address and password, and by a code where the account has a second factor. */
@Injectable()
export class SignIn {
  constructor(
    private readonly sessions: Sessions,
    private readonly tries: SignInTries,
    private readonly proveAccount: ProveAccount,
    private readonly startSession: StartSession,
    private readonly endSession: EndSession,
    private readonly callers: Callers,
    private readonly db: Db,
  ) {}

  /**
   * @throws Unauthorized for what does not belong together or lacks a code, RateLimited after too many failures, NotFound for
   * a workspace that the account is not in
   */
  async execute(
    { email: given, password, code, workspaceId }: SignInBody,
    origin: Origin & { presented: string | undefined },
  ): Promise<StartedSession> {
    const email = given.toLowerCase();
    const started = await this.tries.signIn(email, origin.address, async () => {
      const proved = await this.proveAccount.toSignIn(email, password, code);
      const workspaces = await this.sessions.membershipsOf(proved.userId);
      if (workspaces.length === 0) throw wrongCredentials();
      const workspace = chosen(workspaces, workspaceId);
      return this.startSession.execute(
        { ...proved, email, method: 'password' },
        { workspace, workspaces },
        origin,
      );
    });
    await this.endBefore(origin.presented);
    return started;
  }

  /** The session that the browser had before: its cookie is replaced, so nobody could end it any more. */
  private async endBefore(secret: string | undefined): Promise<void> {
    const before = await this.callers.identifySession(secret).catch((error: unknown) => {
      if (error instanceof DomainError && error.status === 401) return undefined;
      throw error;
    });
    if (!before) return;
    await this.db.transaction(scopeOf(before), () => this.endSession.execute(before, before.credentialId));
  }
}

/** The workspace that is asked for, else the one where the account may do most. @throws NotFound */
export function chosen(workspaces: readonly Membership[], workspaceId: string | undefined): Membership {
  const workspace = workspaces.find((one) => workspaceId === undefined || one.workspaceId === workspaceId);
  if (!workspace) throw new NotFound({ message: 'You are a member of no such workspace.' });
  return workspace;
}
