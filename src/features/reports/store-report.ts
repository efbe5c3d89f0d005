import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { Work } from '../../platform/work/work.js';
import { CustomSections } from './custom-sections.repository.js';
import { MakeReport } from './make-report.js';
import type { Configured } from './report-configs.repository.js';
import type { ReportEntity } from './report.entity.js';
import { Reports } from './reports.repository.js';

/** The work of writing the custom sections of a report; its id is the report's. */
export const SECTIONS_WORK = 'report.sections';

/** Makes and keeps the report of a day that is over, once. */
@Injectable()
export class StoreReport {
  constructor(
    private readonly reports: Reports,
    private readonly makeReport: MakeReport,
    private readonly customSections: CustomSections,
    private readonly work: Work,
    private readonly config: Config,
  ) {}

  /**
   * In the open transaction, which has locked the configuration of the workspace. Answers the one that is there already, if
   * there is one.
   */
  async execute(
    configured: Configured,
    date: string,
    trigger: ReportEntity['trigger'],
  ): Promise<ReportEntity> {
    const scope = { workspaceId: configured.workspaceId, teamIds: 'all' } as const;
    const stored = await this.reports.ofDay(scope, date);
    if (stored) return stored;
    const counted = await this.makeReport.count(configured, date, true);
    const wanted = (await this.customSections.list(scope)).filter(({ includeInReport }) => includeInReport);
    const report: ReportEntity = {
      ...counted.report,
      trigger,
      customSections: wanted.map(({ sectionId, title, capo, directive }) => ({
        sectionId,
        title,
        capo,
        directive,
        status: 'pending',
        body: null,
        error: null,
      })),
      sectionsUntil:
        wanted.length === 0 ? null : counted.report.generatedAt + this.config.reportSectionSeconds * 1_000,
    };
    this.makeReport.keep({ ...counted, report });
    if (wanted.length > 0) this.work.enqueue(SECTIONS_WORK, { id: report.reportId });
    return report;
  }
}
