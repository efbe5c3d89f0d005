import { Injectable } from '@nestjs/common';
import { hasRole, mayRead, type Role, roleIn } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';

/** Who may be asked, and where they are reached. */
export interface DecidingMember {
  memberId: string;
  name: string;
  email: string;
}

/** An active member with what decides about their rights now. */
export interface StandingMember extends DecidingMember {
  workspaceId: string;
  role: Role;
  teamIds: string[];
  teamRoles: Record<string, Role>;
}

/** A member whom a mail is for, also one who was removed. */
export interface AddressedMember extends DecidingMember {
  role: Role;
  isActive: boolean;
  /** Without those that were archived. */
  teams: { teamId: string; name: string }[];
}

/** The members who may decide about rows: CONTRACT section 4 as a statement, so that a workspace of thousands is not read. */
@Injectable()
export class DecidingMembers {
  constructor(private readonly db: Db) {}

  /**
   * The active members for whom {@link mayDecide} holds: those of the row's team first, then the most recently active, up to
   * `limit`.
   */
  of(
    workspaceId: string,
    teamId: string | null,
    {
      role,
      only,
      except,
      limit,
    }: { role: Role; only: readonly string[] | null; except: readonly string[]; limit: number },
  ): Promise<DecidingMember[]> {
    return this.db.query(
      `select m.member_id, u.display_name as name, u.email
       from unnest(app.approvers_of($1, $2, $5, '[]')) able (member_id)
       join members m on m.workspace_id = $1 and m.member_id = able.member_id
       join users u on u.user_id = m.user_id
       left join team_members tm on tm.workspace_id = $1 and tm.team_id = $2 and tm.member_id = m.member_id
       where m.member_id <> all($3) and ($6::text[] is null or m.member_id = any($6))
       order by tm.member_id is null, m.last_seen_at desc nulls last, m.member_id
       limit $4`,
      [workspaceId, teamId, except, limit, role, only],
    );
  }

  /**
   * The members who may approve what belongs to this team, as app.approvers_of says; of an order for every team a list for each
   * team and one for what belongs to none.
   */
  async approvers(
    scope: Scope,
    teamId: string | null,
    named: readonly { roles: readonly Role[]; memberIds: readonly string[] }[],
  ): Promise<string[][]> {
    const rows = await this.db.read<{ memberIds: string[] }>(
      scope,
      `select app.approvers_of($1, t.team_id, 'operator', $3::jsonb) as member_ids from (
         select $2::text as team_id
         union select team_id from teams where workspace_id = $1 and archived_at is null and $2::text is null) t`,
      [scope.workspaceId, teamId, JSON.stringify(named)],
    );
    return rows.map(({ memberIds }) => memberIds);
  }

  /** The members with this address or one of these ids. */
  addressed(
    workspaceId: string,
    { address, memberIds }: { address: string | null; memberIds: readonly string[] },
  ): Promise<AddressedMember[]> {
    return this.db.query(
      `select m.member_id, u.display_name as name, u.email, m.role, m.status = 'active' as is_active,
         (select coalesce(json_agg(json_build_object('teamId', t.team_id, 'name', t.name) order by t.name), '[]') from team_members tm
          join teams t on t.team_id = tm.team_id
          where tm.workspace_id = $1 and tm.member_id = m.member_id and t.archived_at is null) as teams
       from members m join users u on u.user_id = m.user_id
       where m.workspace_id = $1 and (lower(u.email) = lower($2) or m.member_id = any($3))`,
      [workspaceId, address, memberIds],
    );
  }

  /** An active member. */
  async find(workspaceId: string, memberId: string): Promise<StandingMember | undefined> {
    const [row] = await this.db.query<Omit<StandingMember, 'teamIds'>>(
      `select m.workspace_id, m.member_id, u.display_name as name, u.email, m.role,
         (select coalesce(jsonb_object_agg(tm.team_id, tm.role), '{}') from team_members tm
          join teams t on t.team_id = tm.team_id
          where tm.workspace_id = $1 and tm.member_id = m.member_id and t.archived_at is null) as team_roles
       from members m join users u on u.user_id = m.user_id
       where m.workspace_id = $1 and m.member_id = $2 and m.status = 'active'`,
      [workspaceId, memberId],
    );
    return row && { ...row, teamIds: Object.keys(row.teamRoles) };
  }
}

/** Whether the member may decide about a row of this team, or of none, that needs this role. */
export function mayDecide(
  member: Pick<StandingMember, 'workspaceId' | 'role' | 'teamIds' | 'teamRoles'>,
  teamId: string | null,
  least: Role,
): boolean {
  return mayRead(member, teamId) && hasRole(roleIn(member, teamId), least);
}
