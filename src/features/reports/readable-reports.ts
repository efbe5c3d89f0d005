import { Injectable } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { ReadReport } from './read-report.js';
import { Reports } from './reports.repository.js';
import { reportIdOf } from '../verifier/index.js';
import { type Audience, Audiences } from '../workspaces/index.js';
import { LocalDays } from './local-days.js';
import { dateOfReport, familyReportIdOf } from './report-id.js';

/** A report that the caller may read. */
export interface ReadableReport {
  reportId: string;
  date: string;
  audience: Audience;
}

/** Reports by their ids: family reports, whose ids are made from what they show, and Daily Reports, which have rows once they are made. */
@Injectable()
export class ReadableReports {
  constructor(
    private readonly audiences: Audiences,
    private readonly days: LocalDays,
    private readonly reports: Reports,
    private readonly readReport: ReadReport,
  ) {}

  /** @throws NotFound for what is no report, or for one that the caller may not read */
  async get(caller: Caller, reportId: string): Promise<ReadableReport> {
    const date = dateOfReport(reportId);
    if (date === undefined) return this.daily(caller, reportId);
    const { workspaceId } = caller;
    const audience = (await this.audiences.allOf(caller)).find(
      (one) => familyReportIdOf(workspaceId, date, one) === reportId,
    );
    if (audience === undefined) return this.daily(caller, reportId);
    await this.days.read(scopeOf(caller), date);
    return { reportId, date, audience };
  }

  /**
   * A Daily Report, which is of the whole workspace. Its day has the id already before the report is made, and is shown with it.
   * @throws NotFound
   */
  private async daily(caller: Caller, reportId: string): Promise<ReadableReport> {
    const { workspaceId } = caller;
    const scope = { workspaceId, teamIds: 'all' } as const;
    // A caller who may not read it gets the same answer as for a missing one.
    if (!(await this.audiences.seesWhole(caller))) throw new NotFound();
    const report = await this.reports.find(scope, reportId);
    if (report) return { reportId, date: report.date, audience: 'all' };
    const date = dateOfReport(reportId);
    if (date === undefined || reportIdOf(workspaceId, date) !== reportId) throw new NotFound();
    await this.readReport.assertDay(scope, date);
    return { reportId, date, audience: 'all' };
  }
}
