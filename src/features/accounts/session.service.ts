import { Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { type Actor, actorOf, type Caller, hasRole, scopeOf } from '../../platform/auth/caller.js';
import { SESSION_IDLE_MINUTES, Callers, noSession } from '../../platform/auth/callers.js';
import { sharedMembership } from '../../platform/auth/membership.js';
import { csrfTokenOf, newSessionSecret } from '../../platform/auth/session-cookie.js';
import { Db } from '../../platform/database/db.js';
import { sha256 } from '../../platform/kernel/canonical-json.js';
import { Clock } from '../../platform/kernel/clock.js';
import { DomainError } from '../../platform/kernel/define-error.js';
import { NotFound, Unauthorized } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { cutText } from '../../platform/kernel/text.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { SessionToken } from '../workspaces/index.js';
import type { SessionEntity } from './session.entity.js';
import type { OwnWorkspace, SessionView, EndedSession } from './accounts.dto.js';
import { wrongCredentials } from './accounts.errors.js';
import { Sessions } from './sessions.repository.js';

/** However often it is used, a session ends so long after the sign-in (CONTRACT, Admin). */
const SESSION_HOURS = 12;

const MINUTE_MS = 60_000;

/** When a session that began at `createdAt` ends at the latest, Unix milliseconds. */
const lastEndOf = (createdAt: number): number => createdAt + SESSION_HOURS * 60 * MINUTE_MS;

/** When it ends unless a request comes before, Unix milliseconds. */
export function endOf({ lastSeenAt, expiresAt }: Pick<SessionEntity, 'lastSeenAt' | 'expiresAt'>): number {
  return Math.min(expiresAt, lastSeenAt + SESSION_IDLE_MINUTES * MINUTE_MS);
}

/** A session as its owner sees it; `secret` is what the cookie carries. */
function viewOf(
  session: SessionEntity & { lacksSecondFactor: boolean },
  secret: string,
  account: Pick<SessionView, 'displayName' | 'email'>,
  places: { workspace: OwnWorkspace; workspaces: OwnWorkspace[] },
): SessionView {
  const { sessionId, method, secondFactor, lacksSecondFactor, createdAt, expiresAt } = session;
  const { displayName, email } = account;
  const { workspace, workspaces } = places;
  return {
    sessionId,
    csrfToken: csrfTokenOf(secret),
    method,
    secondFactor,
    lacksSecondFactor,
    workspace,
    workspaces,
    displayName,
    email,
    createdAt,
    endsAt: endOf(session),
    expiresAt,
  };
}

const MAX_USER_AGENT = 300;

/** Who signs in, as far as it has been proved. */
interface Proved {
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

/** It opens nothing any more, or another request has just ended it, which its look-up need not know yet. */
const HAS_ENDED: ReadonlySet<number> = new Set([401, 404]);

/** Begins, shows and ends sessions of the admin area. */
@Injectable()
export class SessionService {
  constructor(
    private readonly db: Db,
    private readonly sessions: Sessions,
    private readonly callers: Callers,
    private readonly sessionToken: SessionToken,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
    private readonly logger: PinoLogger,
  ) {}

  /**
   * Starts a session for somebody whose account has been proved, in a workspace that they are an active member of.
   * Shares the lock of the membership, so that a removal ends this session too, or is seen here.
   * @throws Unauthorized when the password, or the second factor, is another by now; NotFound for a member who was removed
   */
  async start(
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
    await this.endFormer(presented);
    const lacksSecondFactor = !secondFactor && workspace.requiresSecondFactor;
    return {
      secret,
      view: viewOf({ ...session, lacksSecondFactor }, secret, proved, { workspace, workspaces }),
    };
  }

  /**
   * What a page of the admin area needs to know first.
   * @throws Unauthorized when the session has ended meanwhile
   */
  async read(caller: Caller, secret: string): Promise<SessionView> {
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

  /**
   * Ends a session: one's own, or as owner or admin that of a member with no higher role.
   * @throws NotFound for a session that has ended, or that the caller may not end
   */
  async end(caller: Caller, sessionId: string): Promise<EndedSession> {
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

  /**
   * Ends the session that the browser had before a sign-in: its cookie is replaced, so nobody could end it any more.
   * Never fails: the sign-in is committed, and the former session ends by itself within its twelve hours.
   */
  private async endFormer(secret: string | undefined): Promise<void> {
    if (secret === undefined) return;
    try {
      const former = await this.callers.identifySession(secret, { beforeSecondFactor: true });
      await this.db.transaction(scopeOf(former), () => this.end(former, former.credentialId));
    } catch (error) {
      if (error instanceof DomainError && HAS_ENDED.has(error.status)) return;
      this.logger.warn(
        { err: error },
        'the session that the browser had before a sign-in could not be ended',
      );
    }
  }
}
