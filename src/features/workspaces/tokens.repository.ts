import { Injectable } from '@nestjs/common';
import type { Role } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { newestFirst, readPage, where } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { Page, PageQuery } from '../../platform/kernel/pages.dto.js';
import type { TokenView } from './tokens.dto.js';
import { TokenEntity } from './workspaces.entity.js';

/** The hash is compared, never shown. */
const COLUMNS = columnsOf(TokenEntity, { of: 't', without: ['workspaceId', 'tokenHash', 'sessionId'] });

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
   * The token with the member whom it is for, locked; undefined when there is none. One that a session made ends with that
   * session, and in no other way.
   */
  async lock(workspaceId: string, tokenId: string): Promise<(TokenView & TokenHolder) | undefined> {
    const [row] = await this.db.query<TokenView & TokenHolder>(
      `select ${COLUMNS}, u.display_name as member_name, m.role
       from tokens t join members m on m.member_id = t.member_id join users u on u.user_id = m.user_id
       where t.workspace_id = $1 and t.token_id = $2 and t.session_id is null for update of t`,
      [workspaceId, tokenId],
    );
    return row;
  }

  add(token: TokenEntity): void {
    this.db.insert(TokenEntity, token);
  }

  /** They were used just now, and so their members were here; in a transaction of its own. */
  async noteUse(workspaceId: string, tokenIds: readonly string[]): Promise<void> {
    const text = `with used as (
        update tokens set last_used_at = now() where workspace_id = $1 and token_id = any($2) returning member_id
      ) update members set last_seen_at = now() where member_id in (select member_id from used)`;
    await this.db.writeAll({ workspaceId, teamIds: [] }, [{ text, values: [workspaceId, tokenIds] }]);
  }

  revoke(workspaceId: string, tokenId: string, at: number): void {
    this.db.update(TokenEntity, { workspaceId, tokenId }, { revokedAt: at });
  }

  revokeOfSession(workspaceId: string, sessionId: string, at: number): void {
    this.db.write(
      'update tokens set revoked_at = $3 where workspace_id = $1 and session_id = $2 and revoked_at is null',
      [workspaceId, sessionId, new Date(at)],
    );
  }
}
