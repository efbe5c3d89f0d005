import { Injectable } from '@nestjs/common';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import { readPage, where } from '../../platform/database/listing.js';
import { columnsOf, selectOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { Page } from '../../platform/kernel/pages.dto.js';
import { ToolEntity } from './tool.entity.js';
import type { ToolsQuery } from './tools.dto.js';

const COLUMNS = columnsOf(ToolEntity);
/** Schemas and descriptions are left out of lists: a page of a hundred could be three megabytes. */
const LISTED = columnsOf(ToolEntity, { without: ['paramsSchema', 'description'] });

@Injectable()
export class Tools {
  constructor(private readonly db: Db) {}

  /** By name. */
  list(scope: Scope, { status, ...paging }: ToolsQuery): Promise<Page<ToolEntity>> {
    const listing = {
      name: 'tools',
      select: LISTED,
      from: 'tools',
      ...where({ workspace_id: scope.workspaceId, status }),
      order: [{ column: 'name', kind: 'text' as const }],
    };
    return readPage(this.db, scope, listing, paging);
  }

  /** Whatever its status. */
  find(scope: Scope, name: string): Promise<ToolEntity | undefined> {
    return this.db.findOne(scope, ToolEntity, { workspaceId: scope.workspaceId, name });
  }

  async named(workspaceId: string, names: readonly string[]): Promise<ToolEntity[]> {
    if (names.length === 0) return [];
    const text = `select ${COLUMNS} from tools where workspace_id = $1 and name = any($2)`;
    return this.db.read({ workspaceId, teamIds: 'all' }, text, [workspaceId, names]);
  }

  /** The statement of {@link find}, for a caller that sends more along. */
  readStatement(workspaceId: string, name: string): Statement {
    return selectOf(ToolEntity, { workspaceId, name });
  }

  lock(name: string): Promise<ToolEntity | undefined> {
    const { workspaceId } = this.db.unit.scope;
    return this.db.lockOne(ToolEntity, { workspaceId, name }, 'for no key update');
  }

  /** The tool of this name, locked, and how many there are; until the transaction ends nobody else adds one. */
  async lockForAdding(
    name: string,
  ): Promise<{ existing: ToolEntity | undefined; total: number; proposed: number }> {
    const { workspaceId } = this.db.unit.scope;
    const [, existing, counted] = await this.db.unit.batch([
      { text: `select pg_advisory_xact_lock(hashtextextended('tools ' || $1, 1))`, values: [workspaceId] },
      // Statements of their own see what the previous holder of the lock added.
      selectOf(ToolEntity, { workspaceId, name }, 'for no key update'),
      {
        text: `select count(*) as total, count(*) filter (where status = 'proposed') as proposed
          from tools where workspace_id = $1`,
        values: [workspaceId],
      },
    ]);
    return {
      existing: (existing as ToolEntity[])[0],
      ...(counted as { total: number; proposed: number }[])[0]!,
    };
  }

  add(tool: ToolEntity): void {
    this.db.insert(ToolEntity, tool);
  }

  /** Writes a tool that is locked. */
  update({ workspaceId, name, ...changes }: ToolEntity): void {
    this.db.update(ToolEntity, { workspaceId, name }, changes);
  }

  remove({ workspaceId, name }: ToolEntity): void {
    this.db.write('delete from tools where workspace_id = $1 and name = $2', [workspaceId, name]);
  }
}
