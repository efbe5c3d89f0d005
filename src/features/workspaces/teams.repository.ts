import { Injectable } from '@nestjs/common';
import { type Caller, hasRole, scopeOf } from '../../platform/auth/caller.js';
import { violatedConstraint } from '../../platform/database/database-errors.js';
import { Db } from '../../platform/database/db.js';
import type { Statement } from '../../platform/database/batch.js';
import { newestFirst, readPage, where } from '../../platform/database/listing.js';
import { insertOf, updateOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { AlreadyExists, NotFound } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import type { Page } from '../../platform/kernel/pages.dto.js';
import { TeamEntity } from './workspaces.entity.js';
import type { TeamsQuery, TeamView } from './teams.dto.js';

const COLUMNS = `t.team_id, t.name, t.slug, (select count(*) from team_members tm
  where tm.workspace_id = t.workspace_id and tm.team_id = t.team_id)::int as member_count, t.created_at, t.archived_at`;

@Injectable()
export class Teams {
  constructor(private readonly db: Db) {}

  /** All teams for owner and admin of the workspace, for others their own. */
  list(caller: Caller, { status, ...paging }: TeamsQuery): Promise<Page<TeamView>> {
    const seen = hasRole(caller.role, 'admin') ? [] : ['t.team_id = any($2)'];
    const inStatus = status === 'active' ? 't.archived_at is null' : 't.archived_at is not null';
    const filter = where({ 't.workspace_id': caller.workspaceId }, ...seen, inStatus);
    const listing = {
      name: `teams ${status}`,
      select: COLUMNS,
      from: 'teams t',
      ...filter,
      values: seen.length > 0 ? [...filter.values, caller.teamIds] : filter.values,
      order: newestFirst('t.team_id', 't.created_at'),
    };
    return readPage(this.db, scopeOf(caller), listing, paging);
  }

  /** The team. @throws NotFound for one that the caller may not see */
  async get(caller: Caller, teamId: string): Promise<TeamView> {
    const isSeen = hasRole(caller.role, 'admin') || caller.teamIds.includes(teamId);
    if (!isId('team', teamId) || !isSeen) throw new NotFound();
    const [team] = await this.db.read<TeamView>(
      scopeOf(caller),
      `select ${COLUMNS} from teams t where t.workspace_id = $1 and t.team_id = $2`,
      [caller.workspaceId, teamId],
    );
    if (!team) throw new NotFound();
    return team;
  }

  /** Of every team of the workspace, archived ones too. */
  async allIds(scope: Scope): Promise<string[]> {
    const teams = await this.db.read<{ teamId: string }>(
      scope,
      'select team_id from teams where workspace_id = $1',
      [scope.workspaceId],
    );
    return teams.map(({ teamId }) => teamId);
  }

  /** Whether the workspace has a team, or had one. */
  async areThere(workspaceId: string): Promise<boolean> {
    const [row] = await this.db.read<{ areThere: boolean }>(
      { workspaceId, teamIds: 'all' },
      'select exists (select from teams where workspace_id = $1) as are_there',
      [workspaceId],
    );
    return row!.areThere;
  }

  /** Whether there is such a team, and work can still be handed in for it. */
  async isActive(scope: Scope, teamId: string): Promise<boolean> {
    const found = await this.db.read(
      scope,
      'select 1 from teams where workspace_id = $1 and team_id = $2 and archived_at is null',
      [scope.workspaceId, teamId],
    );
    return found.length > 0;
  }

  /** Joins the open transaction; archiving the team waits for it. */
  async isArchived(workspaceId: string, teamId: string): Promise<boolean> {
    const found = await this.db.query(
      'select 1 from teams where workspace_id = $1 and team_id = $2 and archived_at is not null',
      [workspaceId, teamId],
    );
    return found.length > 0;
  }

  /** How many teams work, and which of the slugs that begin so are taken. */
  async taken(workspaceId: string, slug: string): Promise<{ count: number; slugs: string[] }> {
    const [row] = await this.db.query<{ count: number; slugs: string[] }>(
      `select count(*) filter (where archived_at is null)::int as count,
         coalesce(array_agg(slug) filter (where starts_with(slug, $2)), '{}') as slugs
       from teams where workspace_id = $1`,
      [workspaceId, slug],
    );
    return row!;
  }

  /** @throws AlreadyExists when a team has a name that looks like this one */
  add(team: TeamEntity): Promise<void> {
    return this.unlessTaken(insertOf(TeamEntity, team));
  }

  /** @throws AlreadyExists when another team has a name that looks like this one */
  rename(workspaceId: string, teamId: string, name: string, nameKey: string): Promise<void> {
    return this.unlessTaken(updateOf(TeamEntity, { workspaceId, teamId }, { name, nameKey }));
  }

  archive(workspaceId: string, teamId: string, at: number): void {
    this.db.update(TeamEntity, { workspaceId, teamId }, { archivedAt: at });
  }

  /** The index decides among concurrent writers. */
  private async unlessTaken({ text, values }: Statement): Promise<void> {
    try {
      await this.db.query(text, values);
    } catch (error) {
      if (violatedConstraint(error) !== 'teams_name') throw error;
      throw new AlreadyExists({
        message: 'A team with this name, or one that looks like it, already exists.',
        cause: error,
      });
    }
  }
}
