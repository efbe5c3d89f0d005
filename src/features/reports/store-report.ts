import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { Config } from '../../platform/config/config.js';
import { dayBefore, dayOf } from '../../platform/kernel/local-day.js';
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
   *
   * @param asker who asks for it; undefined: the schedule
   * @throws NeededBeforehand while the receipts of a long day are not counted
   */
  async execute(configured: Configured, date: string, asker: Caller | undefined): Promise<ReportEntity> {
    const scope = { workspaceId: configured.workspaceId, teamIds: 'all' } as const;
    const stored = await this.reports.ofDay(scope, date);
    if (stored) return asker ? stored : this.scheduled(stored);
    const counted = await this.makeReport.countBeforehand(configured, date);
    const { zone } = configured;
    // A section tells how things stand as it is written, and each costs a model call: nobody gets them by reading old days.
    const hasSections = !asker || date === dayBefore(dayOf(counted.report.generatedAt, zone), zone);
    const all = hasSections ? await this.customSections.list(scope) : [];
    const wanted = all.filter(({ includeInReport }) => includeInReport);
    const report: ReportEntity = {
      ...counted.report,
      trigger: asker ? 'on-demand' : 'schedule',
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
    this.makeReport.keep({ ...counted, report }, asker);
    if (wanted.length > 0) this.work.enqueue(SECTIONS_WORK, { id: report.reportId });
    return report;
  }

  /** Somebody has asked for it before the schedule came to its day; now the recipients of reports are notified. */
  private scheduled(report: ReportEntity): ReportEntity {
    if (report.trigger === 'schedule') return report;
    this.reports.update(report, { trigger: 'schedule' });
    return { ...report, trigger: 'schedule' };
  }
}
