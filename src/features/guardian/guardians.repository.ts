import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { columnsOf, selectOf } from '../../platform/database/table.js';
import type { Statement } from '../../platform/database/batch.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { GuardianMode } from '../terms/terms.js';
import { GuardianEntity, RevertEntity } from './guardian.entity.js';

const COLUMNS = columnsOf(GuardianEntity);

/**
 * A row's share locks let each other pass, so a kill that only waited for the row would wait for as long as work goes
 * on. Advisory locks queue: whoever comes after the kill waits for it. It is taken before any other lock.
 */
const TURN = 'hashtextextended($1, 3)';

@Injectable()
export class Guardians {
  constructor(private readonly db: Db) {}

  async read(scope: Scope): Promise<GuardianEntity> {
    const { text, values } = this.readStatement(scope.workspaceId);
    const [row] = await this.db.read<GuardianEntity>(scope, text, values);
    return row!;
  }

  /** {@link read} for a caller that sends it along with statements of its own. */
  readStatement(workspaceId: string): Statement {
    return selectOf(GuardianEntity, { workspaceId });
  }

  /**
   * Reads the guardian and keeps it as it is until the transaction ends: a kill waits for those who have locked it, and
   * whoever comes after the kill sees it.
   */
  async lockShared(workspaceId: string): Promise<GuardianEntity> {
    const { text, values } = this.lockSharedStatement(workspaceId);
    const [row] = await this.db.query<GuardianEntity>(text, values);
    return row!;
  }

  /** {@link lockShared} for a caller that sends it along with statements of its own. */
  lockSharedStatement(workspaceId: string): Statement {
    return {
      // The sub-select is evaluated before the row is locked, and locking reads the newest version of the row.
      text: `select ${COLUMNS} from guardians where workspace_id = $1
        and (select pg_advisory_xact_lock_shared(${TURN})) is not null for share`,
      values: [workspaceId],
    };
  }

  /** Engages the kill switch; undefined when it is engaged already. */
  kill(
    workspaceId: string,
    by: Actor,
    reason: string | null,
    at: number,
  ): Promise<GuardianEntity | undefined> {
    return this.change(
      `update guardians set mode = 'killed', mode_before_kill = mode, epoch = epoch + 1,
         killed_at = $2, killed_by = $3::jsonb, reason = $4
       where workspace_id = $1 and mode <> 'killed' returning ${COLUMNS}`,
      [workspaceId, new Date(at), JSON.stringify(by), reason],
    );
  }

  /** Goes back to the mode before the kill; undefined when there is no kill. Answers the row as it was. */
  lift(workspaceId: string): Promise<GuardianEntity | undefined> {
    return this.change(
      `update guardians g set mode = g.mode_before_kill, mode_before_kill = null, killed_at = null,
         killed_by = null, reason = null
       from (select * from guardians where workspace_id = $1 for update) before
       where g.workspace_id = $1 and before.mode = 'killed'
       returning g.workspace_id, g.mode, g.epoch, before.killed_at, before.killed_by, before.reason, g.last_checkpoint_id`,
      [workspaceId],
    );
  }

  /** Sets the mode; undefined while killed. */
  setMode(workspaceId: string, mode: GuardianMode): Promise<GuardianEntity | undefined> {
    return this.change(
      `update guardians set mode = $2 where workspace_id = $1 and mode <> 'killed' returning ${COLUMNS}`,
      [workspaceId, mode],
    );
  }

  recordRevert(revert: RevertEntity): void {
    this.db.insert(RevertEntity, revert);
  }

  /** Changes the guardian as the next in turn, before all who come later. */
  private async change(text: string, values: readonly unknown[]): Promise<GuardianEntity | undefined> {
    const [, [row]] = (await this.db.unit.batch([
      { text: `select pg_advisory_xact_lock(${TURN})`, values: [values[0]] },
      { text, values },
    ])) as [unknown, [GuardianEntity?]];
    return row;
  }
}
