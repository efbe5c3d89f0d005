import { Injectable } from '@nestjs/common';
import { DatabaseError } from 'pg';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { newestFirst, readPage, where } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import type { Page, PageQuery } from '../../platform/kernel/pages.dto.js';
import { CheckpointEntity, type TakenBefore } from './guardian.entity.js';

/** A checkpoint that has just been taken. */
export interface TakenCheckpoint {
  checkpointId: string;
  receiptSeq: number;
  hash: string;
}

export interface NewCheckpoint {
  checkpointId: string;
  label: string | null;
  takenBefore: TakenBefore | null;
  by: Actor;
  /** Unix milliseconds. */
  at: number;
}

/** A checkpoint without what it holds. */
export type ListedCheckpoint = Omit<CheckpointEntity, 'workspaceId' | 'snapshot'>;

const LISTED = columnsOf(CheckpointEntity, { without: ['workspaceId', 'snapshot'] });

@Injectable()
export class Checkpoints {
  constructor(private readonly db: Db) {}

  /**
   * Takes one in the open transaction, of the whole workspace, whatever of it the transaction may see.
   * @throws InvalidTransition when more orders are in force than a checkpoint holds
   */
  async take({ checkpointId, label, takenBefore, by, at }: NewCheckpoint): Promise<TakenCheckpoint> {
    try {
      const [row] = await this.db.query<{ taken: TakenCheckpoint }>(
        'select app.take_checkpoint($1, $2, $3, $4::jsonb, $5) as taken',
        [checkpointId, label, takenBefore, JSON.stringify(by), new Date(at)],
      );
      return row!.taken;
    } catch (error) {
      throw holdsTooMuch(error)
        ? new InvalidTransition({
            message: 'More than 10,000 standing orders are in force; a checkpoint does not hold as many.',
          })
        : error;
    }
  }

  /** @throws NotFound */
  async get(scope: Scope, checkpointId: string): Promise<CheckpointEntity> {
    const { workspaceId } = scope;
    const checkpoint = isId('chk', checkpointId)
      ? await this.db.findOne(scope, CheckpointEntity, { workspaceId, checkpointId })
      : undefined;
    if (!checkpoint) throw new NotFound();
    return checkpoint;
  }

  /** The newest. */
  newest(scope: Scope): Promise<CheckpointEntity | undefined> {
    return this.last(scope, 'true', []);
  }

  /** The newest of those before a kill: neither the one that the kill took itself, nor one that was taken since. */
  newestBeforeKill(
    scope: Scope,
    { checkpointId, at }: { checkpointId: string | null; at: number },
  ): Promise<CheckpointEntity | undefined> {
    const isBefore =
      checkpointId === null
        ? 'c.created_at < $2'
        : `c.checkpoint_id <> $2 and c.receipt_seq <= (
            select k.receipt_seq from guardian_checkpoints k where k.workspace_id = $1 and k.checkpoint_id = $2)`;
    return this.last(scope, isBefore, [checkpointId ?? new Date(at)]);
  }

  private async last(
    scope: Scope,
    condition: string,
    values: unknown[],
  ): Promise<CheckpointEntity | undefined> {
    const [checkpoint] = await this.db.read<CheckpointEntity>(
      scope,
      `select ${columnsOf(CheckpointEntity, { of: 'c' })} from guardian_checkpoints c
       where c.workspace_id = $1 and ${condition}
       order by c.created_at desc, c.checkpoint_id desc limit 1`,
      [scope.workspaceId, ...values],
    );
    return checkpoint;
  }

  /** Newest first. */
  list(scope: Scope, query: PageQuery): Promise<Page<ListedCheckpoint>> {
    const listing = {
      name: 'checkpoints',
      select: LISTED,
      from: 'guardian_checkpoints',
      ...where({ workspace_id: scope.workspaceId }),
      order: newestFirst('checkpoint_id'),
    };
    return readPage(this.db, scope, listing, query);
  }
}

/** True when app.take_checkpoint found more orders than it keeps. */
function holdsTooMuch(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === 'CW004';
}
