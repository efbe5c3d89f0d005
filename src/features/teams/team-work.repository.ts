import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { OpenWork } from '../workspaces/index.js';

/** A directive, action request or question that was given to another team, or to none. */
interface Moved {
  entityType: 'directive' | 'action_request' | 'approval';
  entityId: string;
  /** Of a directive its first line. */
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

  /** Gives what is open, with all that is its own, to another team. What agents asked for is listed before it moves. */
  async move(workspaceId: string, teamId: string, to: string | null): Promise<Moved[]> {
    const moved = await this.db.unit.batch([
      { text: 'select * from app.asked_of_team($1, $2)', values: [workspaceId, teamId] },
      {
        text: `select 'directive' as entity_type, directive_id as entity_id, title from app.move_team_work($1, $2, $3)`,
        values: [workspaceId, teamId, to],
      },
    ]);
    return moved.flat() as Moved[];
  }
}
