import { Injectable } from '@nestjs/common';
import { hasRole, mayRead, type Role, roleIn, ROLES } from '../../platform/auth/caller.js';
import { violatedConstraint } from '../../platform/database/database-errors.js';
import { Db } from '../../platform/database/db.js';
import { newestFirst, readPage, where } from '../../platform/database/listing.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { foldedMailAddress } from '../../platform/kernel/mail-address.js';
import type { Page, PageQuery } from '../../platform/kernel/pages.dto.js';
import type { MembersQuery, MemberView, TeamRole } from './members.dto.js';
import { MemberEntity, TeamMemberEntity } from './workspaces.entity.js';

const COLUMNS = `m.member_id, m.user_id, u.email, u.display_name, m.role, (select coalesce(jsonb_agg(jsonb_build_object(
    'teamId', own.team_id, 'role', own.role) order by own.team_id), '[]') from team_members own
    where own.workspace_id = m.workspace_id and own.member_id = m.member_id) as teams, m.status, m.joined_at, m.last_seen_at`;

/** A member with what decides how the membership may end. */
export interface Member extends MemberView {
  teamOnly: boolean;
}

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

@Injectable()
export class Members {
  constructor(private readonly db: Db) {}

  list(scope: Scope, { status, ...paging }: MembersQuery): Promise<Page<MemberView>> {
    const listing = {
      name: `members ${status}`,
      select: COLUMNS,
      from: 'members m',
      joins: 'join users u on u.user_id = m.user_id',
      ...where({ 'm.workspace_id': scope.workspaceId, 'm.status': status }),
      order: newestFirst('m.member_id', 'm.joined_at'),
    };
    return readPage(this.db, scope, listing, paging);
  }

  /** The members of a team, with those of their teams that the scope may see. */
  async listOf(scope: Scope, teamId: string, paging: PageQuery): Promise<Page<MemberView>> {
    const listing = {
      name: `members ${teamId}`,
      select: COLUMNS,
      from: 'team_members tm',
      joins: 'join members m on m.member_id = tm.member_id join users u on u.user_id = m.user_id',
      ...where({ 'tm.workspace_id': scope.workspaceId, 'tm.team_id': teamId }),
      order: [{ column: 'tm.member_id', kind: 'text' as const }],
    };
    const page = await readPage<MemberView>(this.db, scope, listing, paging);
    return { ...page, items: page.items.map((member) => seenFrom(scope, member)) };
  }

  /** An active member by the id of the membership or of the user. @throws NotFound */
  async get(workspaceId: string, uid: string): Promise<Member> {
    const member = await this.find(
      `(m.member_id = $2 or m.user_id = $2) and m.status = 'active'`,
      workspaceId,
      uid,
    );
    if (!member) throw new NotFound();
    return member;
  }

  /** The active member with this address. */
  findByEmail(workspaceId: string, email: string): Promise<Member | undefined> {
    return this.find(`u.email = $2 and m.status = 'active'`, workspaceId, email);
  }

  /** The membership of this user, also one that has ended. */
  findByUser(workspaceId: string, userId: string): Promise<Member | undefined> {
    return this.find('m.user_id = $2', workspaceId, userId);
  }

  /** Those who are in the workspace for this team alone. */
  onlyIn(workspaceId: string, teamId: string): Promise<Pick<Member, 'memberId' | 'email' | 'displayName'>[]> {
    return this.db.query(
      `select m.member_id, u.email, u.display_name from members m join users u on u.user_id = m.user_id
       where m.workspace_id = $1 and m.team_only and m.status = 'active'
         and array(select tm.team_id from team_members tm where tm.workspace_id = $1 and tm.member_id = m.member_id)
           = array[$2]
       order by m.member_id`,
      [workspaceId, teamId],
    );
  }

  /** How many active members, and active owners, the workspace has. */
  async count(workspaceId: string): Promise<{ members: number; owners: number }> {
    const [row] = await this.db.query<{ members: number; owners: number }>(
      `select count(*)::int as members, (count(*) filter (where role = 'owner'))::int as owners
       from members where workspace_id = $1 and status = 'active'`,
      [workspaceId],
    );
    return row!;
  }

  /** Whether the workspace requires a second factor of the member, by the role that they have in it. */
  async requiresSecondFactor(workspaceId: string, memberId: string): Promise<boolean> {
    const [row] = await this.db.query<{ isRequired: boolean }>(
      `select app.asks_second_factor(w.second_factor, m.role) as is_required
       from members m join workspaces w on w.workspace_id = m.workspace_id
       where m.workspace_id = $1 and m.member_id = $2`,
      [workspaceId, memberId],
    );
    return row!.isRequired;
  }

  /** The owners of the workspace. */
  owners(workspaceId: string): Promise<Pick<Member, 'memberId'>[]> {
    return this.db.query(
      `select member_id from members where workspace_id = $1 and role = 'owner' and status = 'active' order by member_id`,
      [workspaceId],
    );
  }

  async countInTeam(workspaceId: string, teamId: string): Promise<number> {
    const [row] = await this.db.query<{ count: number }>(
      'select count(*)::int as count from team_members where workspace_id = $1 and team_id = $2',
      [workspaceId, teamId],
    );
    return row!.count;
  }

  /** What the active members of a workspace, and its agents, are called. */
  async namesIn(workspaceId: string): Promise<{ members: string[]; agents: string[] }> {
    const [row] = await this.db.query<{ members: string[]; agents: string[] }>(
      `select array(select u.display_name from members m join users u on u.user_id = m.user_id
           where m.workspace_id = $1 and m.status = 'active') as members,
         array(select t.agent_name from tokens t
           where t.workspace_id = $1 and t.agent_name is not null and t.revoked_at is null) as agents`,
      [workspaceId],
    );
    return row!;
  }

  /** Adds the account. Answers false when the address has one by now. */
  async addAccount(user: {
    userId: string;
    email: string;
    displayName: string;
    passwordHash: string | null;
  }): Promise<boolean> {
    // Not `do nothing returning`: an acceptor may read no account before it is a member of the workspace.
    const { userId, email, displayName, passwordHash } = user;
    try {
      await this.db.query(
        'insert into users (user_id, email, display_name, password_hash) values ($1, $2, $3, $4)',
        [userId, email, displayName, passwordHash],
      );
      return true;
    } catch (error) {
      if (violatedConstraint(error) === 'users_email_key') return false;
      throw error;
    }
  }

  add(member: MemberEntity): void {
    this.db.insert(MemberEntity, member);
  }

  change(workspaceId: string, memberId: string, changes: Partial<MemberEntity>): void {
    this.db.update(MemberEntity, { workspaceId, memberId }, changes);
  }

  /** Adds the member to the team, or changes the role in it. */
  putInTeam(row: TeamMemberEntity): void {
    const { workspaceId, teamId, memberId, role } = row;
    this.db.write(
      `insert into team_members (workspace_id, team_id, member_id, role) values ($1, $2, $3, $4)
       on conflict (workspace_id, team_id, member_id) do update set role = excluded.role`,
      [workspaceId, teamId, memberId, role],
    );
  }

  takeFromTeam(workspaceId: string, teamId: string, memberId: string): void {
    this.db.write('delete from team_members where workspace_id = $1 and team_id = $2 and member_id = $3', [
      workspaceId,
      teamId,
      memberId,
    ]);
  }

  /** Ends the memberships in a team. */
  emptyTeam(workspaceId: string, teamId: string): void {
    this.db.write('delete from team_members where workspace_id = $1 and team_id = $2', [workspaceId, teamId]);
  }

  /**
   * Revokes the tokens of this member, who is about to have this role, and those that they made for others, which somebody
   * has seen who may do less then than the member whose rights the token carries. Answers the first token of the chain of
   * each.
   */
  async revokeSeenFromBelow(
    workspaceId: string,
    memberId: string,
    role: Role,
    at: number,
  ): Promise<string[]> {
    const revoked = await this.db.query<{ rootId: string }>(
      `update tokens t set revoked_at = $3
       from members holder
       where t.workspace_id = $1 and t.revoked_at is null and ($2 = t.member_id or $2 = any(t.made_by))
         and holder.workspace_id = $1 and holder.member_id = t.member_id
         and exists (select from members maker where maker.workspace_id = $1 and maker.member_id = any(t.made_by)
           and array_position($4::text[], case maker.member_id when $2 then $5 else maker.role end)
             < array_position($4::text[], case holder.member_id when $2 then $5 else holder.role end))
       returning coalesce(t.root_id, t.token_id) as root_id`,
      [workspaceId, memberId, new Date(at), ROLES, role],
    );
    return revoked.map(({ rootId }) => rootId);
  }

  /**
   * Revokes all tokens of these members, so that none opens anything if one of them ever comes back, and those that they made
   * for others, and so have seen. Answers the first token of the chain of each, with the member because of whom it is revoked.
   */
  revokeTokens(
    workspaceId: string,
    memberIds: readonly string[],
    at: number,
  ): Promise<{ rootId: string; memberId: string }[]> {
    return this.db.query(
      `update tokens t set revoked_at = $3
       where workspace_id = $1 and (member_id = any($2) or made_by && $2) and revoked_at is null
       returning coalesce(root_id, token_id) as root_id,
         (select m from unnest($2::text[]) m where m = t.member_id or m = any(t.made_by) limit 1) as member_id`,
      [workspaceId, memberIds, new Date(at)],
    );
  }

  /** Ends the membership with its sessions. */
  remove(workspaceId: string, memberId: string, at: number): void {
    this.change(workspaceId, memberId, { status: 'removed' });
    this.db.write('delete from team_members where workspace_id = $1 and member_id = $2', [
      workspaceId,
      memberId,
    ]);
    this.db.write('select app.end_sessions_of_member($1, $2, $3)', [workspaceId, memberId, new Date(at)]);
  }

  /**
   * The active members for whom {@link mayDecide} holds: those of the row's team first, then the most recently active, up to
   * `limit`.
   */
  deciding(
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
       where m.workspace_id = $1 and (u.email = $2 or m.member_id = any($3))`,
      [workspaceId, address && foldedMailAddress(address), memberIds],
    );
  }

  /** An active member. */
  async standing(workspaceId: string, memberId: string): Promise<StandingMember | undefined> {
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

  private async find(condition: string, workspaceId: string, value: string): Promise<Member | undefined> {
    const [row] = await this.db.query<Member>(
      `select ${COLUMNS}, m.team_only from members m join users u on u.user_id = m.user_id
       where m.workspace_id = $1 and ${condition}`,
      [workspaceId, value],
    );
    return row;
  }
}

/** Without the teams that the scope may not see. */
export function seenFrom({ teamIds }: Scope, { teams, ...member }: MemberView): MemberView {
  return { ...member, teams: teams.filter(({ teamId }) => teamIds === 'all' || teamIds.includes(teamId)) };
}

/** The role in a team. */
export function roleInTeam(member: Pick<MemberView, 'teams'>, teamId: string): TeamRole | undefined {
  return member.teams.find((team) => team.teamId === teamId)?.role;
}

/** A member as the wire shows them. */
export function viewOf({ teamOnly: _teamOnly, ...member }: Member): MemberView {
  return member;
}

/** Whether the member may decide about a row of this team, or of none, that needs this role. */
export function mayDecide(
  member: Pick<StandingMember, 'workspaceId' | 'role' | 'teamIds' | 'teamRoles'>,
  teamId: string | null,
  least: Role,
): boolean {
  return mayRead(member, teamId) && hasRole(roleIn(member, teamId), least);
}
