import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { noSession } from '../../platform/auth/callers.js';
import { sharedMembership } from '../../platform/auth/membership.js';
import { newSessionSecret } from '../../platform/auth/session-cookie.js';
import { Db } from '../../platform/database/db.js';
import { sha256 } from '../../platform/kernel/canonical-json.js';
import { Clock } from '../../platform/kernel/clock.js';
import { cutText } from '../../platform/kernel/text.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { wrongCredentials } from './accounts.errors.js';
import { EndFormerSession } from './end-former-session.js';
import { lastEndOf, viewOf } from './session.js';
import type { SessionEntity } from './session.entity.js';
import type { OwnWorkspace, SessionView } from './sessions.dto.js';
import { Sessions } from './sessions.repository.js';

const MAX_USER_AGENT = 300;

/** Who signs in, as far as it has been proved. */
export interface Proved {
  userId: string;
  displayName: string;
  email: string;
  method: SessionEntity['method'];
  secondFactor: boolean;
  /** What the password was held against, if by one; the session begins only if the account still has it. */
  passwordHash?: string;
  /** The open session that proves the account instead; the new one ends no later. */
  continues?: Pick<SessionEntity, 'sessionId' | 'expiresAt'>;
}

/** Where a request comes from. */
export interface Origin {
  address: string;
  userAgent: string | undefined;
  /** The secret of the session that the browser had, if it had one. */
  presented: string | undefined;
  /** The workspace is opened by an invite to it, which another person sent: the next sign-in opens the one from before. */
  byInvite?: boolean;
}

/** A session, and what its cookie carries. */
export interface StartedSession {
  secret: string;
  view: SessionView;
}

/** Starts a session for somebody whose account has been proved, in a workspace that they are an active member of. */
@Injectable()
export class StartSession {
  constructor(
    private readonly db: Db,
    private readonly sessions: Sessions,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
    private readonly endFormerSession: EndFormerSession,
  ) {}

  /**
   * Shares the lock of the membership, so that a removal ends this session too, or is seen here.
   * @throws Unauthorized when the password, or the second factor, is another by now; NotFound for a member who was removed
   */
  async execute(
    proved: Proved,
    { workspace, workspaces }: { workspace: OwnWorkspace; workspaces: OwnWorkspace[] },
    { address, userAgent, presented, byInvite }: Origin,
  ): Promise<StartedSession> {
    const { userId, displayName, method, secondFactor } = proved;
    const { workspaceId, memberId } = workspace;
    const secret = newSessionSecret();
    const createdAt = this.clock.now();
    const session: SessionEntity = {
      sessionId: newId('ses'),
      workspaceId,
      memberId,
      userId,
      secretHash: sha256(secret),
      method,
      secondFactor,
      userAgent: userAgent === undefined ? null : cutText(userAgent, MAX_USER_AGENT),
      address,
      createdAt,
      lastSeenAt: createdAt,
      expiresAt: proved.continues?.expiresAt ?? lastEndOf(createdAt),
      endedAt: null,
    };
    const actor: Actor = { type: 'member', id: memberId, name: displayName, via: 'dashboard' };
    await this.db.transaction(
      { workspaceId, teamIds: 'all' },
      async () => {
        const { isProved, isMember } = await this.sessions.mayBegin(session, proved);
        if (!isMember) throw new NotFound({ message: 'You are not a member of this workspace any more.' });
        if (!isProved) throw proved.continues ? noSession('ended_session') : wrongCredentials();
        this.sessions.add(session);
        if (!byInvite) this.sessions.noteOpened(session);
        this.receipts.append({
          actor,
          action: 'session.started',
          entity: { type: 'session', id: session.sessionId },
          summary: `${displayName} signed in from ${address}.`,
          details: { memberId, method, secondFactor, address, userAgent: session.userAgent },
        });
      },
      [sharedMembership(workspaceId)],
    );
    await this.endFormerSession.execute(presented);
    const lacksSecondFactor = !secondFactor && workspace.requiresSecondFactor;
    return {
      secret,
      view: viewOf({ ...session, lacksSecondFactor }, secret, proved, { workspace, workspaces }),
    };
  }
}
