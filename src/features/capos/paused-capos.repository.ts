import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import type { Statement } from '../../platform/database/batch.js';
import type { CapoRole } from '../terms/index.js';

@Injectable()
export class PausedCapos {
  constructor(private readonly db: Db) {}

  /** The capos that wait; for a caller that sends it along with statements of its own. */
  statement(workspaceId: string): Statement {
    return {
      text: 'select capo, paused_by, paused_at from paused_capos where workspace_id = $1',
      values: [workspaceId],
    };
  }

  /** False when it was paused already. */
  async pause(workspaceId: string, capo: CapoRole, by: Actor, at: number): Promise<boolean> {
    const rows = await this.db.query(
      `insert into paused_capos (workspace_id, capo, paused_by, paused_at) values ($1, $2, $3::jsonb, $4)
       on conflict (workspace_id, capo) do nothing returning 1`,
      [workspaceId, capo, JSON.stringify(by), new Date(at)],
    );
    return rows.length > 0;
  }

  /** False when it was not paused. */
  async resume(workspaceId: string, capo: CapoRole): Promise<boolean> {
    const rows = await this.db.query(
      'delete from paused_capos where workspace_id = $1 and capo = $2 returning 1',
      [workspaceId, capo],
    );
    return rows.length > 0;
  }
}
