import { Injectable } from '@nestjs/common';
import type { Actor, Caller } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { newestFirst, readPage } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import { Forbidden } from '../../platform/kernel/errors.js';
import type { Page, PageQuery } from '../../platform/kernel/pages.dto.js';
import { DeletionEntity, ExportEntity } from './tenancy.entity.js';
import type { ListedWorkspace } from './tenancy.dto.js';

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

/** An export that was read to its end. */
type CompletedExport = { [K in keyof ExportEntity]: NonNullable<ExportEntity[K]> };

@Injectable()
export class Exports {
  constructor(private readonly db: Db) {}

  begin(row: Pick<ExportEntity, 'exportId' | 'workspaceId' | 'askedBy' | 'startedAt'>): void {
    const outcome = {
      completedAt: null,
      sha256: null,
      lines: null,
      bytes: null,
      headSeq: null,
      headHash: null,
    };
    this.db.insert(ExportEntity, { ...row, ...outcome });
  }

  complete(workspaceId: string, exportId: string, outcome: Partial<ExportEntity>): void {
    this.db.update(ExportEntity, { workspaceId, exportId }, outcome);
  }

  /** The newest that was read to its end. */
  async newest(workspaceId: string): Promise<CompletedExport | undefined> {
    const [row] = await this.db.read<CompletedExport>(
      { workspaceId, teamIds: 'all' },
      `select ${columnsOf(ExportEntity)} from workspace_exports
       where workspace_id = $1 and completed_at is not null order by completed_at desc limit 1`,
      [workspaceId],
    );
    return row;
  }
}

/** Rows of all workspaces that are kept no longer: a function of the database deletes them. */
@Injectable()
export class ExpiredRows {
  constructor(private readonly db: Db) {}

  /** Deletes at most so many of each subject, and answers how many they were. */
  delete(
    rowsAtOnce: number,
    bounds: Record<string, { standard: number; fewest: number; most: number }>,
  ): Promise<{ subject: string; deleted: number }[]> {
    return this.db.system('select subject, deleted from app.delete_expired($1, $2::jsonb)', [
      rowsAtOnce,
      JSON.stringify(bounds),
    ]);
  }
}

/** Any number no other use of advisory locks has. */
const LOCK = 8;

/** The workspaces of the service, as app.list_workspaces shows them to the first one. */
@Injectable()
export class WorkspaceList {
  constructor(private readonly db: Db) {}

  /** @throws Forbidden for an owner of any other workspace than the first */
  async assertFirst({ workspaceId }: Pick<Caller, 'workspaceId'>): Promise<void> {
    if (workspaceId === (await this.first())) return;
    throw new Forbidden({
      message: 'Only an owner of the first workspace of this service makes and lists workspaces.',
      details: { requiredRoles: ['owner'] },
    });
  }

  /** The workspace that the first start made. */
  async first(): Promise<string> {
    const [row] = await this.db.read<{ workspaceId: string }>(
      { workspaceId: '', teamIds: [] },
      'select app.first_workspace() as workspace_id',
    );
    return row!.workspaceId;
  }

  page({ workspaceId }: Pick<Caller, 'workspaceId'>, paging: PageQuery): Promise<Page<ListedWorkspace>> {
    const listing = {
      name: 'workspaces',
      select: 'w.workspace_id, w.name, w.tier, w.state, w.members, w.created_at, w.delete_at',
      from: 'app.list_workspaces() w',
      where: 'true',
      values: [],
      order: newestFirst('w.workspace_id', 'w.created_at'),
    };
    return readPage<ListedWorkspace>(this.db, { workspaceId, teamIds: 'all' }, listing, paging);
  }

  async has(workspaceId: string): Promise<boolean> {
    const found = await this.db.query('select from app.list_workspaces() w where w.workspace_id = $1', [
      workspaceId,
    ]);
    return found.length > 0;
  }

  /** The names of all; nobody else makes a workspace until the open transaction ends. */
  async lockNames(): Promise<string[]> {
    const [, rows] = await this.db.unit.batch([
      { text: `select pg_advisory_xact_lock(hashtextextended('workspaces', ${LOCK}))` },
      { text: 'select w.name from app.list_workspaces() w' },
    ]);
    return (rows as { name: string }[]).map(({ name }) => name);
  }
}
