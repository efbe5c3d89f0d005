import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Statement } from '../../platform/database/batch.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { GuardianMode } from '../terms/index.js';
import type { TakenCheckpoint } from './checkpoints.repository.js';
import { GuardianEntity } from './guardian.entity.js';

const COLUMNS = columnsOf(GuardianEntity);

/** The guardian as people read it. */
export interface GuardianFacts extends GuardianEntity {
  /** The newest of all, by whomever it was taken. */
  lastCheckpointId: string | null;
}

/** A kill that has just been engaged, with the checkpoint that was taken before it; null: none could be taken. */
export interface Kill extends GuardianEntity {
  checkpoint: TakenCheckpoint | null;
}

interface KillAct {
  by: Actor;
  reason: string | null;
  /** Unix milliseconds. */
  at: number;
  checkpointId: string;
  label: string;
}

const FACTS = `${columnsOf(GuardianEntity, { of: 'guardians' })}, (select c.checkpoint_id from guardian_checkpoints c
  where c.workspace_id = guardians.workspace_id order by c.created_at desc, c.checkpoint_id desc limit 1) as last_checkpoint_id`;

/**
 * A row's share locks let each other pass, so a kill that only waited for the row would wait for as long as work goes
 * on. Advisory locks queue: acts after the kill wait for it. It is taken before any other lock.
 */
const TURN = 'hashtextextended($1, 3)';

/**
 * Since when a kill stops the clocks of all pending approvals; null: they run. For statements whose $1 is the workspace. One
 * moment for all: a change of each of ten thousand kept a kill from its COMMIT for half a second (docs/decisions/0058).
 */
export const CLOCKS_STOPPED_AT = '(select clocks_stopped_at from guardians where workspace_id = $1)';

/** A figure of the metrics: the workspaces in which the kill switch is on. */
export const killedStatement = (): Statement => ({ text: 'select app.killed_workspaces() as value' });

@Injectable()
export class Guardians {
  constructor(private readonly db: Db) {}

  async read(scope: Scope): Promise<GuardianFacts> {
    const { text, values } = this.readStatement(scope.workspaceId);
    const [row] = await this.db.read<GuardianFacts>(scope, text, values);
    return row!;
  }

  /** {@link read} for a caller that sends it along with statements of its own. */
  readStatement(workspaceId: string): Statement {
    return { text: `select ${FACTS} from guardians where workspace_id = $1`, values: [workspaceId] };
  }

  /**
   * Reads the guardian and keeps it as it is until the transaction ends: a kill waits for those who have locked it, and
   * acts after the kill see it.
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

  /**
   * Engages the kill switch, with a checkpoint of what was in force, in one statement; undefined when it is engaged already.
   * A second kill while a revert undoes work keeps the mode that the revert goes back to.
   */
  kill(workspaceId: string, { by, reason, at, checkpointId, label }: KillAct): Promise<Kill | undefined> {
    return this.change<Kill>(
      `with taken as materialized (select app.take_checkpoint($5, $6, 'kill', $3::jsonb, $2) as checkpoint)
       update guardians set mode = 'killed', epoch = epoch + 1, killed_at = $2, killed_by = $3::jsonb, reason = $4,
         mode_before_kill = case when mode = 'recovering' then mode_before_kill else mode end,
         kill_checkpoint_id = taken.checkpoint->>'checkpointId'
       from taken where workspace_id = $1 and mode <> 'killed' returning ${COLUMNS}, taken.checkpoint`,
      [workspaceId, new Date(at), JSON.stringify(by), reason, checkpointId, label],
    );
  }

  /** Reads the guardian as the next in turn, and keeps everybody else from it until the transaction ends. */
  async lock(workspaceId: string): Promise<GuardianEntity> {
    const guardian = await this.change<GuardianEntity>(
      `select ${COLUMNS} from guardians where workspace_id = $1 for update`,
      [workspaceId],
    );
    return guardian!;
  }

  /** Goes on in this mode after a kill, or after what it has led to; the guardian is locked. */
  leaveHalt(workspaceId: string, mode: GuardianMode): void {
    this.db.update(
      GuardianEntity,
      { workspaceId },
      { mode, modeBeforeKill: null, killedAt: null, killedBy: null, reason: null },
    );
  }

  /** Nothing leaves while work is undone; the guardian is locked, and killed. */
  beginRecovery(workspaceId: string): void {
    const change = { mode: 'recovering', killedAt: null, killedBy: null, reason: null } as const;
    this.db.update(GuardianEntity, { workspaceId, mode: 'killed' }, change);
  }

  /** Sets the mode; undefined while a kill holds, or what came before it is being undone. */
  setMode(workspaceId: string, mode: GuardianMode): Promise<GuardianFacts | undefined> {
    return this.change<GuardianFacts>(
      `update guardians set mode = $2 where workspace_id = $1 and mode not in ('killed', 'recovering')
       returning ${FACTS}`,
      [workspaceId, mode],
    );
  }

  /** Changes the guardian as the next in turn, before all who come later. */
  private async change<T>(text: string, values: readonly unknown[]): Promise<T | undefined> {
    const [, [row]] = (await this.db.unit.batch([
      { text: `select pg_advisory_xact_lock(${TURN})`, values: [values[0]] },
      { text, values },
    ])) as [unknown, [T?]];
    return row;
  }
}
