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
import { CheckpointEntity, type TakenBefore } from './checkpoint.entity.js';

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

  /** The newest; of those before a kill not the one that the kill itself took, since nothing has happened since. */
  async newest(scope: Scope, { not }: { not: string | null }): Promise<CheckpointEntity | undefined> {
    const [checkpoint] = await this.db.read<CheckpointEntity>(
      scope,
      `select ${columnsOf(CheckpointEntity)} from guardian_checkpoints
       where workspace_id = $1 and checkpoint_id is distinct from $2
       order by created_at desc, checkpoint_id desc limit 1`,
      [scope.workspaceId, not],
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
