import { Injectable } from '@nestjs/common';
import type { Caller, Role } from '../../platform/auth/caller.js';
import { SESSION_IDLE_MINUTES } from '../../platform/auth/callers.js';
import { newSessionSecret } from '../../platform/auth/session-cookie.js';
import { Db } from '../../platform/database/db.js';
import { newestFirst, readPage, where } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { sha256 } from '../../platform/kernel/canonical-json.js';
import type { Page, PageQuery } from '../../platform/kernel/pages.dto.js';
import type { ListedSession, OwnWorkspace } from './accounts.dto.js';
import { SessionEntity } from './session.entity.js';

/** The account that an address belongs to. */
export interface Account {
  userId: string;
  displayName: string;
  /** Null: it has no password, since it has only ever signed in elsewhere. */
  passwordHash: string | null;
  hasSecondFactor: boolean;
}

const LISTED = columnsOf(SessionEntity, { of: 's', without: ['workspaceId', 'secretHash', 'endedAt'] });

@Injectable()
export class Sessions {
  constructor(private readonly db: Db) {}

  /** The account with this address, in all workspaces. */
  async accountOf(email: string): Promise<Account | undefined> {
    const [account] = await this.db.system<Account>('select * from app.find_account($1)', [email]);
    return account;
  }

  /** Where the account is an active member; the one that it opened last first. */
  membershipsOf(userId: string): Promise<OwnWorkspace[]> {
    return this.db.system<OwnWorkspace>('select * from app.memberships_of($1)', [userId]);
  }

  async workspaceNamesOf(userId: string): Promise<string[]> {
    return (await this.membershipsOf(userId)).map(({ workspaceName }) => workspaceName);
  }

  /**
   * Whether the session may begin: its member is active, and what was proved still is, the same password and the second factor
   * that was shown. What was proved stays so until the open transaction ends, so nothing that ends the sessions of the account
   * can miss one that is just beginning. Without a password an organisation, or an open session, has vouched for the account.
   */
  async mayBegin(
    { workspaceId, memberId, userId, secondFactor }: SessionEntity,
    { passwordHash, continues }: { passwordHash?: string; continues?: Pick<SessionEntity, 'sessionId'> },
  ): Promise<{ isProved: boolean; isMember: boolean }> {
    const [row] = await this.db.query<{ isProved: boolean; isMember: boolean }>(
      `select app.is_still_proved($3, $4, $5, $6) as is_proved, exists (
         select from members where workspace_id = $1 and member_id = $2 and status = 'active') as is_member`,
      [workspaceId, memberId, userId, passwordHash ?? null, secondFactor, continues?.sessionId ?? null],
    );
    return row!;
  }

  add(session: SessionEntity): void {
    this.db.insert(SessionEntity, session);
  }

  /** The next sign-in opens this workspace again. */
  noteOpened({ workspaceId, memberId, createdAt }: SessionEntity): void {
    this.db.write('update members set opened_at = $3 where workspace_id = $1 and member_id = $2', [
      workspaceId,
      memberId,
      new Date(createdAt),
    ]);
  }

  /** A session of the workspace. */
  get(caller: Pick<Caller, 'workspaceId'>, sessionId: string): Promise<SessionEntity | undefined> {
    const { workspaceId } = caller;
    return this.db.findOne({ workspaceId, teamIds: 'all' }, SessionEntity, { workspaceId, sessionId });
  }

  /** The open sessions of the workspace, or of one member, the newest first. */
  list(
    scope: Scope,
    { whose, but }: { whose: string | undefined; but: string | undefined },
    now: number,
    paging: PageQuery,
  ): Promise<Page<Omit<ListedSession, 'current' | 'endsAt'> & { expiresAt: number }>> {
    const own = where({ 's.workspace_id': scope.workspaceId, 's.member_id': whose });
    const values = [...own.values, new Date(now), ...(but === undefined ? [] : [but])];
    const at = `$${own.values.length + 1}::timestamptz`;
    const listing = {
      name: `sessions ${whose ?? ''} ${but ?? ''}`,
      select: `${LISTED}, u.display_name as member_name`,
      from: 'sessions s',
      joins: 'join users u on u.user_id = s.user_id',
      where: `${own.where} and s.ended_at is null and s.expires_at > ${at}
        and s.last_seen_at > ${at} - interval '${SESSION_IDLE_MINUTES} minutes'
        ${but === undefined ? '' : `and s.member_id <> $${values.length}`}`,
      values,
      order: newestFirst('s.session_id', 's.created_at'),
    };
    return readPage(this.db, scope, listing, paging);
  }

  /** The session with the role of its member, locked; undefined when there is none that is open. */
  async lock(
    workspaceId: string,
    sessionId: string,
  ): Promise<
    Pick<SessionEntity & { memberName: string; role: Role }, 'memberId' | 'memberName' | 'role'> | undefined
  > {
    const [row] = await this.db.query<{ memberId: string; memberName: string; role: Role }>(
      `select s.member_id, u.display_name as member_name, m.role
       from sessions s join members m on m.member_id = s.member_id join users u on u.user_id = s.user_id
       where s.workspace_id = $1 and s.session_id = $2 and s.ended_at is null for update of s`,
      [workspaceId, sessionId],
    );
    return row;
  }

  /** Whether a second factor was shown in this session, or is set up no more. */
  setSecondFactor(workspaceId: string, sessionId: string, secondFactor: boolean): void {
    this.db.update(SessionEntity, { workspaceId, sessionId }, { secondFactor });
  }

  /**
   * Gives the session another secret, in the open transaction, and answers it: a person who saw the former one is not signed
   * in by what its owner has just proved.
   */
  renewSecret(workspaceId: string, sessionId: string): string {
    const secret = newSessionSecret();
    this.db.update(SessionEntity, { workspaceId, sessionId }, { secretHash: sha256(secret) });
    // A thief of the old cookie may have made a token with it.
    this.db.write(
      'update tokens set revoked_at = now() where workspace_id = $1 and session_id = $2 and revoked_at is null',
      [workspaceId, sessionId],
    );
    return secret;
  }

  /** Ends a session, and not yet the tokens that it made for the dashboard. */
  end(workspaceId: string, sessionId: string, at: number): void {
    this.db.update(SessionEntity, { workspaceId, sessionId }, { endedAt: at });
  }

  /** Ends every session of an account, in all workspaces, except one; answers how many those were. */
  async endAllOf(userId: string, at: number, except: string | null = null): Promise<number> {
    const [row] = await this.db.query<{ count: number }>('select app.end_sessions($1, $2, $3) as count', [
      userId,
      except,
      new Date(at),
    ]);
    return row!.count;
  }
}
