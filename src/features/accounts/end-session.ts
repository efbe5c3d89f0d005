import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, hasRole } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { SessionToken } from '../workspaces/index.js';
import type { EndedSession } from './sessions.dto.js';
import { Sessions } from './sessions.repository.js';

/** Ends a session: one's own, or as owner or admin that of a member with no higher role. */
@Injectable()
export class EndSession {
  constructor(
    private readonly sessions: Sessions,
    private readonly sessionToken: SessionToken,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** @throws NotFound for a session that has ended, or that the caller may not end */
  async execute(caller: Caller, sessionId: string): Promise<EndedSession> {
    const { workspaceId, memberId, name } = caller;
    const session = await this.sessions.lock(workspaceId, sessionId);
    const isOwn = session?.memberId === memberId;
    const mayEnd = isOwn || (session && hasRole(caller.role, 'admin') && hasRole(caller.role, session.role));
    if (!session || !mayEnd) throw new NotFound();
    const endedAt = this.clock.now();
    this.sessions.end(workspaceId, sessionId, endedAt);
    this.sessionToken.revokeOf(workspaceId, sessionId, endedAt);
    this.receipts.append({
      actor: actorOf(caller),
      action: 'session.ended',
      entity: { type: 'session', id: sessionId },
      summary: isOwn ? `${name} signed out.` : `${name} ended a session of ${session.memberName}.`,
      details: { memberId: session.memberId },
    });
    return { sessionId, endedAt };
  }
}
