import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches } from 'class-validator';
import { PageFacts, PageQuery } from '../../platform/kernel/pages.dto.js';
import { IsVisibleName } from '../../platform/kernel/visible-name.js';

/** The parameter of the paths, as it is documented. */
export const TEAM_PARAM = {
  name: 'id',
  description: 'The id of the team.',
  example: 'team_01kerpy4n2v5d9q8c1m7xw3zta',
};

const MAX_NAME = 60;

/** Body of `POST /teams` and `PATCH /teams/{id}`. */
export class TeamBody {
  /** One line of 1 to 60 characters, unlike the name of any other team. @example 'Marketing' */
  @IsVisibleName(MAX_NAME)
  name!: string;
}

/** Body of `POST /teams/{id}/archive`. */
export class ArchiveTeamBody {
  /**
   * The team that open work goes to; null: it belongs to no team from then on. Left out, a team with open work is not
   * archived.
   * @example 'team_01kerpy4n2v5d9q8c1m7xw3ztb'
   */
  @IsOptional()
  @Matches(/^team_[0-9a-z]{26}$/, { message: '$property must be the id of a team, or null' })
  moveTo?: string | null;
}

export class TeamsQuery extends PageQuery {
  /** Teams that work, or those that were archived. @example 'active' */
  @ApiPropertyOptional()
  @IsOptional()
  @IsIn(['active', 'archived'])
  status: 'active' | 'archived' = 'active';
}

export class TeamView {
  /** The id of the team. @example 'team_01kerpy4n2v5d9q8c1m7xw3zta' */
  teamId!: string;
  /** The team's name. @example 'Marketing' */
  name!: string;
  /** The name at its beginning, as it can stand in an address; it stays when the team is renamed. @example 'marketing' */
  slug!: string;
  /** How many members the team has. @example 4 */
  memberCount!: number;
  /** When it was made, Unix milliseconds. @example 1768209000000 */
  createdAt!: number;
  /** When it was archived, Unix milliseconds; null: it works. */
  archivedAt!: number | null;
}

export class TeamPage extends PageFacts {
  /** The teams of this page, newest first. */
  items!: TeamView[];
}

/** What of a team has not ended. */
export class OpenWork {
  /** Directives that have not ended. @example 2 */
  directives!: number;
  /** Approvals that nobody has decided. @example 1 */
  approvals!: number;
  /** Work packets that have not ended. @example 3 */
  workPackets!: number;
  /** Standing orders that are not archived. @example 1 */
  standingOrders!: number;
  /** Action requests of agents that have neither ended nor been completed. @example 0 */
  actionRequests!: number;
}

/** A team that was archived, and what became of its work. */
export class ArchivedTeam {
  /** The team. */
  team!: TeamView;
  /** The team that has its open work now; null: no team, or there was none. */
  movedTo!: string | null;
  /** What was open. */
  moved!: OpenWork;
  /**
   * Standing orders among them that allowed something: they are paused until somebody activates them where they are now.
   * @example 1
   */
  pausedOrders!: number;
  /** Members who were in the workspace for this team alone, and are not any more. @example 0 */
  removedMembers!: number;
}
