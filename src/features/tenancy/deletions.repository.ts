import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { DeletionEntity } from './deletion.entity.js';

/** What the deletion of a workspace leaves to be remembered. */
export interface DeletedWorkspace {
  name: string;
  requestedBy: Actor;
  /** Unix milliseconds. */
  requestedAt: number;
  rows: number;
  head: { seq: number; hash: string };
  export: { exportId: string; sha256: string; completedAt: number; head: { seq: number; hash: string } };
}

/** How far a call of the deletion came. */
export interface DeletedRows {
  rows: number;
  /** Another process is at it. */
  busy: boolean;
  /** Another process has deleted the last row. */
  gone?: boolean;
  /** With the last row. */
  deleted?: DeletedWorkspace | null;
}

/** Deletions, which functions of the database alone begin, take back and carry out. */
@Injectable()
export class Deletions {
  constructor(private readonly db: Db) {}

  find(workspaceId: string): Promise<DeletionEntity | undefined> {
    return this.db.findOne({ workspaceId, teamIds: 'all' }, DeletionEntity, { workspaceId });
  }

  /** Asks for that of the transaction's own workspace; answers why it may not be deleted, if so. */
  async request(by: Actor, engagedKill: boolean): Promise<'first' | 'requested' | 'exported' | null> {
    const [row] = await this.db.query<{ refusal: 'first' | 'requested' | 'exported' | null }>(
      'select app.request_deletion($1::jsonb, $2) as refusal',
      [JSON.stringify(by), engagedKill],
    );
    return row!.refusal;
  }

  async withdraw(): Promise<'none' | 'begun' | 'withdrawn'> {
    const [row] = await this.db.query<{ outcome: 'none' | 'begun' | 'withdrawn' }>(
      'select app.withdraw_deletion() as outcome',
    );
    return row!.outcome;
  }

  /** Those with something to do now. */
  due(): Promise<{ workspaceId: string; step: 'warn' | 'delete' }[]> {
    return this.db.system('select workspace_id, step from app.due_deletions()');
  }

  /** Notes that the owners of the transaction's own workspace are warned; answers when it is deleted, null when they were. */
  async warn(): Promise<number | null> {
    const [row] = await this.db.query<{ dueAt: number | null }>('select app.warn_deletion() as due_at');
    return row!.dueAt;
  }

  /** Deletes some rows of a workspace whose grace is over. */
  async deleteRows(workspaceId: string, limit: number): Promise<DeletedRows> {
    const [row] = await this.db.query<{ done: DeletedRows }>('select app.delete_workspace($1, $2) as done', [
      workspaceId,
      limit,
    ]);
    return row!.done;
  }
}
