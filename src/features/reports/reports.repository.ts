import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { readPage, where } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import type { Page, PageQuery } from '../../platform/kernel/pages.dto.js';
import { ReportEntity } from './report.entity.js';

/** A report as the history lists it. */
export type ListedReport = Omit<ReportEntity, 'sections' | 'customSections'>;

/** A report beside the one that is made. */
export type Neighbour = Pick<ReportEntity, 'date' | 'fromSeq' | 'toSeq'>;

const LISTED = columnsOf(ReportEntity, { without: ['sections', 'customSections'] });

@Injectable()
export class Reports {
  constructor(private readonly db: Db) {}

  /** Adds the report of a day to the open transaction; a second one of the day is refused as it is written. */
  add(report: ReportEntity): void {
    this.db.insert(ReportEntity, report);
  }

  ofDay(scope: Scope, date: string): Promise<ReportEntity | undefined> {
    return this.db.findOne(scope, ReportEntity, { workspaceId: scope.workspaceId, date });
  }

  find(scope: Scope, reportId: string): Promise<ReportEntity | undefined> {
    return this.db.findOne(scope, ReportEntity, { workspaceId: scope.workspaceId, reportId });
  }

  /** The reports made of the days around this one, the nearest before and after it. */
  async around(scope: Scope, date: string): Promise<{ before?: Neighbour; after?: Neighbour }> {
    const values = [scope.workspaceId, date];
    const [[before], [after]] = (await this.db.readAll(scope, [
      {
        text: `select date, from_seq, to_seq from reports where workspace_id = $1 and date < $2 order by date desc limit 1`,
        values,
      },
      {
        text: `select date, from_seq, to_seq from reports where workspace_id = $1 and date > $2 order by date limit 1`,
        values,
      },
    ])) as [[Neighbour?], [Neighbour?]];
    return { ...(before && { before }), ...(after && { after }) };
  }

  lock(workspaceId: string, reportId: string): Promise<ReportEntity | undefined> {
    return this.db.lockOne(ReportEntity, { workspaceId, reportId }, 'for no key update');
  }

  update(
    { workspaceId, reportId }: Pick<ReportEntity, 'workspaceId' | 'reportId'>,
    change: Partial<ReportEntity>,
  ): void {
    this.db.update(ReportEntity, { workspaceId, reportId }, change);
  }

  /** @throws NotFound */
  async lockExisting(workspaceId: string, reportId: string): Promise<ReportEntity> {
    const report = isId('rpt', reportId) ? await this.lock(workspaceId, reportId) : undefined;
    if (!report) throw new NotFound();
    return report;
  }

  /** The reports that were made, the latest day first. */
  list(scope: Scope, paging: PageQuery): Promise<Page<ListedReport>> {
    const listing = {
      name: 'reports',
      select: LISTED,
      from: 'reports',
      ...where({ workspace_id: scope.workspaceId }),
      order: [{ column: 'date', kind: 'text' as const, descending: true }],
    };
    return readPage<ListedReport>(this.db, scope, listing, paging);
  }
}
