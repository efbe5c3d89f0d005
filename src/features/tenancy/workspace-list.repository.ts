import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { newestFirst, readPage } from '../../platform/database/listing.js';
import { Forbidden } from '../../platform/kernel/errors.js';
import type { Page, PageQuery } from '../../platform/kernel/pages.dto.js';
import type { ListedWorkspace } from './workspaces.dto.js';

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
