import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { columnsOf } from '../../platform/database/table.js';
import { ExportEntity } from './export.entity.js';

/** An export that was read to its end. */
export type CompletedExport = { [K in keyof ExportEntity]: NonNullable<ExportEntity[K]> };

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
