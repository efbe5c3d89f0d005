import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { OpenWork } from '../workspaces/teams.dto.js';

/** A directive that was given to another team, or to none. */
interface Moved {
  directiveId: string;
  /** Its first line. */
  title: string;
}

/** What belongs to a team and has not ended, through functions of the database: the tables are of the features above. */
@Injectable()
export class TeamWork {
  constructor(private readonly db: Db) {}

  /**
   * Locks what is open, so that nothing of it leaves or ends meanwhile, and answers how much it is, and how many work
   * packets are on their way out just now.
   */
  async lock(workspaceId: string, teamId: string): Promise<OpenWork & { sending: number }> {
    const [row] = await this.db.query<OpenWork & { sending: number }>(
      'select * from app.open_team_work($1, $2)',
      [workspaceId, teamId],
    );
    return row!;
  }

  /** Gives open directives, with all that is theirs, to another team. */
  move(workspaceId: string, teamId: string, to: string | null): Promise<Moved[]> {
    return this.db.query<Moved>('select * from app.move_team_work($1, $2, $3)', [workspaceId, teamId, to]);
  }
}
