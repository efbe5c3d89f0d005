import { Injectable } from '@nestjs/common';
import type { Role } from '../../platform/auth/caller.js';
import { violatedConstraint } from '../../platform/database/database-errors.js';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import { newestFirst, readPage, where } from '../../platform/database/listing.js';
import { columnsOf, insertOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { AlreadyExists } from '../../platform/kernel/errors.js';
import type { Page, PageQuery } from '../../platform/kernel/pages.dto.js';
import type { TokenView } from './tokens.dto.js';
import { TokenEntity } from './workspaces.entity.js';

/** The hash is compared, never shown. */
const SHOWN = columnsOf(TokenEntity, {
  of: 't',
  without: ['workspaceId', 'tokenHash', 'sessionId', 'agentName', 'agentNameKey', 'rootId'],
});
const COLUMNS = `${SHOWN}, case when t.agent_name is not null then jsonb_build_object('name', t.agent_name) end as agent`;

/** A token with the role of its member, and the first one of its chain of rotations. */
export type LockedToken = TokenView & { role: Role; rootId: string };

/** A locked token as the wire shows it. */
export function viewOf({ role: _role, rootId: _rootId, ...token }: LockedToken): TokenView {
  return token;
}

/** The member whom a token is for. */
export interface TokenHolder {
  memberId: string;
  memberName: string;
  role: Role;
}

@Injectable()
export class Tokens {
  constructor(private readonly db: Db) {}

  /** The tokens of the workspace, the newest first, without those that sessions made for the dashboard for some minutes. */
  list(scope: Scope, query: PageQuery): Promise<Page<TokenView>> {
    const listing = {
      name: 'tokens',
      select: `${COLUMNS}, u.display_name as member_name`,
      from: 'tokens t',
      joins: 'join members m on m.member_id = t.member_id join users u on u.user_id = m.user_id',
      ...where({ 't.workspace_id': scope.workspaceId }, 't.session_id is null'),
      order: newestFirst('t.token_id', 't.created_at'),
    };
    return readPage(this.db, scope, listing, query);
  }

  /** An active member, kept in their role until the transaction ends; undefined for anyone else. */
  async lockMemberShared(workspaceId: string, memberId: string): Promise<TokenHolder | undefined> {
    const [row] = await this.db.query<TokenHolder>(
      `select m.member_id, u.display_name as member_name, m.role
       from members m join users u on u.user_id = m.user_id
       where m.workspace_id = $1 and m.member_id = $2 and m.status = 'active' for share of m`,
      [workspaceId, memberId],
    );
    return row;
  }

  /** The active owner who has been there longest, kept in their role until the transaction ends. */
  async lockOwner(workspaceId: string): Promise<TokenHolder | undefined> {
    const [row] = await this.db.query<TokenHolder>(
      `select m.member_id, u.display_name as member_name, m.role
       from members m join users u on u.user_id = m.user_id
       where m.workspace_id = $1 and m.role = 'owner' and m.status = 'active'
       order by m.joined_at, m.member_id limit 1 for share of m`,
      [workspaceId],
    );
    return row;
  }

  /**
   * The token, locked until the transaction ends: nothing for one that was stopped meanwhile. A request to stop it waits, and finds what
   * was asked for.
   */
  lockUsableStatement(workspaceId: string, tokenId: string): Statement {
    return {
      text: `select token_id from tokens where workspace_id = $1 and token_id = $2 and revoked_at is null and paused_at is null
        for share`,
      values: [workspaceId, tokenId],
    };
  }

  /** What is asked by one token is asked one after another: names are given once, and what waits is counted. */
  lockAskingStatement(tokenRootId: string): Statement {
    return { text: 'select pg_advisory_xact_lock(hashtextextended($1, 4))', values: [tokenRootId] };
  }

  /**
   * The token with the member whom it is for, locked; undefined when there is none. One that a session made ends with that
   * session, and in no other way.
   */
  async lock(workspaceId: string, tokenId: string): Promise<LockedToken | undefined> {
    const [row] = await this.db.query<LockedToken>(
      `select ${COLUMNS}, u.display_name as member_name, m.role, coalesce(t.root_id, t.token_id) as root_id
       from tokens t join members m on m.member_id = t.member_id join users u on u.user_id = m.user_id
       where t.workspace_id = $1 and t.token_id = $2 and t.session_id is null for update of t`,
      [workspaceId, tokenId],
    );
    return row;
  }

  add(token: TokenEntity): void {
    this.db.insert(TokenEntity, token);
  }

  /** Adds a token of an agent. @throws AlreadyExists when another agent has the name: the index decides between writers */
  async addOfAgent(token: TokenEntity): Promise<void> {
    const { text, values } = insertOf(TokenEntity, token);
    try {
      await this.db.query(text, values);
    } catch (error) {
      if (violatedConstraint(error) !== 'tokens_agent_name') throw error;
      const message = `There is a token of an agent with the name ${token.agentName} already. Rotate or revoke that one.`;
      throw new AlreadyExists({ message, cause: error });
    }
  }

  /** How many tokens of agents there are; until the transaction ends nobody else adds one. */
  async countAgentsForAdding(workspaceId: string): Promise<number> {
    const [, counted] = await this.db.unit.batch([
      { text: `select pg_advisory_xact_lock(hashtextextended('agents ' || $1, 1))`, values: [workspaceId] },
      // A statement of its own sees what the previous holder of the lock added.
      {
        text: 'select count(*)::int as count from tokens where workspace_id = $1 and agent_name is not null and revoked_at is null',
        values: [workspaceId],
      },
    ]);
    return (counted as { count: number }[])[0]!.count;
  }

  /** What the agent of this name may ask for; no row where there is none. */
  ofAgentStatement(workspaceId: string, name: string | null): Statement {
    return {
      text: `select tools, paused_at is not null as is_paused from tokens
        where workspace_id = $1 and agent_name = $2 and revoked_at is null and (expires_at is null or expires_at > app.clock())`,
      values: [workspaceId, name],
    };
  }

  /** Those of these names that an agent with a valid token has. */
  async agentsNamed(workspaceId: string, names: readonly string[]): Promise<string[]> {
    const rows = await this.db.read<{ agentName: string }>(
      { workspaceId, teamIds: 'all' },
      `select distinct agent_name from tokens where workspace_id = $1 and agent_name = any($2)
         and revoked_at is null and (expires_at is null or expires_at > app.clock())`,
      [workspaceId, names],
    );
    return rows.map(({ agentName }) => agentName);
  }

  /** They were used just now, and so their members were here; in a transaction of its own. */
  async noteUse(workspaceId: string, tokenIds: readonly string[]): Promise<void> {
    const text = `with used as (
        update tokens set last_used_at = now() where workspace_id = $1 and token_id = any($2) returning member_id
      ) update members set last_seen_at = now() where member_id in (select member_id from used)`;
    await this.db.writeAll({ workspaceId, teamIds: [] }, [{ text, values: [workspaceId, tokenIds] }]);
  }

  change(
    workspaceId: string,
    tokenId: string,
    changes: Partial<Pick<TokenEntity, 'revokedAt' | 'pausedAt' | 'pausedBy'>>,
  ): void {
    this.db.update<TokenEntity>(TokenEntity, { workspaceId, tokenId }, changes);
  }

  async hasOfSession(workspaceId: string, sessionId: string): Promise<boolean> {
    const rows = await this.db.query(
      'select from tokens where workspace_id = $1 and session_id = $2 limit 1',
      [workspaceId, sessionId],
    );
    return rows.length > 0;
  }

  revokeOfSession(workspaceId: string, sessionId: string, at: number): void {
    this.db.write(
      'update tokens set revoked_at = $3 where workspace_id = $1 and session_id = $2 and revoked_at is null',
      [workspaceId, sessionId, new Date(at)],
    );
  }
}
