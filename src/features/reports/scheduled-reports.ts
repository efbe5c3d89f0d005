import { Injectable, type OnModuleInit } from '@nestjs/common';
import { withComputed } from '../../platform/database/beforehand.js';
import { Db } from '../../platform/database/db.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Clock } from '../../platform/kernel/clock.js';
import { dayBefore, dayOf } from '../../platform/kernel/local-day.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import { Work } from '../../platform/work/work.js';
import { Events } from '../events/index.js';
import { Signals } from '../records/index.js';
import { MakeReport } from './make-report.js';
import { type Configured, ReportConfigs } from './report-configs.repository.js';
import { ReportMailService, urlOf } from './report-mail.service.js';
import type { ReportEntity } from './report.entity.js';
import { dueDays, LATE, nextRun, type WrittenSection } from './report.js';
import { Reports } from './reports.repository.js';

/** The work of telling of a report; its id is the report's. */
export const DELIVER_WORK = 'report.deliver';

/** Tells of a report that is as complete as it becomes: subscribers first, and then each recipient by mail. */
@Injectable()
export class DeliverReport implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly reports: Reports,
    private readonly mail: ReportMailService,
    private readonly events: Events,
    private readonly address: PublicAddress,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: DELIVER_WORK,
      pool: 4,
      perQueue: 2,
      tries: 8,
      run: (item) =>
        this.db.transaction(scopeOfWork(item), async () => {
          await this.tell(item);
          this.work.complete(item);
        }),
      // Subscribers are told also where this was given up.
      giveUp: (item) => this.tell(item),
    });
  }

  /**
   * Tells subscribers of a report that the schedule made, once; a section that is not written by then stays out of it. One on
   * demand is told to nobody: who has it mailed again, mails it. In the open transaction, which has locked the report; it is
   * changed as its row is.
   */
  private announce(report: ReportEntity): void {
    if (report.announcedAt !== null || report.trigger !== 'schedule') return;
    report.announcedAt = this.clock.now();
    report.customSections = report.customSections.map(lateUnlessWritten);
    const { announcedAt, customSections, reportId, date, headline } = report;
    this.reports.update(report, { announcedAt, customSections });
    this.events.record('report.daily', { reportId, date, headline, url: urlOf(this.address, report) });
  }

  private async tell({ workspaceId, id }: WorkItem): Promise<void> {
    const report = await this.reports.lock(workspaceId, id);
    if (!report) return;
    this.announce(report);
    this.mail.enqueue(await this.mail.plan(report));
  }
}

/** After work on it was given up, and where no report is made by itself: it is looked at again then, or when it is changed. */
const LOOK_AGAIN_MS = 3_600_000;

/**
 * Makes the reports that are due. One transaction at a time does that for a workspace, each makes one report, and a unique
 * constraint sees to it that no day has two; what an outage has kept from being made is made up for, oldest first.
 */
@Injectable()
export class ScheduledReports implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly work: Work,
    private readonly configs: ReportConfigs,
    private readonly makeReport: MakeReport,
    private readonly signals: Signals,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: 'report.schedule',
      pool: 2,
      perQueue: 1,
      tries: 8,
      enqueueDue: 'app.enqueue_due_reports',
      run: (item, signal) => this.execute(item, signal),
      giveUp: (item, error) => this.giveUp(item, error),
    });
  }

  private async execute(item: WorkItem, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await withComputed(() => this.next(item)))) {
      // One more is due.
    }
  }

  /** Makes the next report that is due; false when there is none any more, and the work is done. */
  private next(item: WorkItem): Promise<boolean> {
    const { workspaceId } = item;
    return this.db.transaction(scopeOfWork(item), async () => {
      const config = await this.configs.lock(workspaceId);
      const now = this.clock.now();
      const { zone } = config;
      // The day on which it is first looked at is the first to be reported by itself.
      const last = config.lastDate ?? dayBefore(dayOf(now, zone), zone);
      const first = dayOf(config.createdAt, zone);
      const date = dueDays(config, zone, last, now).find((day) => day >= first);
      if (date === undefined) {
        this.configs.update(workspaceId, { lastDate: last, dueAt: this.nextLook(config, now) });
        this.work.complete(item);
        return false;
      }
      const report = await this.makeReport.store(config, date, undefined);
      this.configs.update(workspaceId, { lastDate: date });
      if (report.announcedAt === null) {
        const waitMs = Math.max(0, (report.sectionsUntil ?? now) - now);
        this.work.enqueueBy(DELIVER_WORK, [{ id: report.reportId, waitMs }]);
      }
      this.work.check(item);
      return true;
    });
  }

  private nextLook(config: Configured, now: number): number {
    return nextRun(config, config.zone, now) ?? now + LOOK_AGAIN_MS;
  }

  private giveUp({ workspaceId }: WorkItem, { message }: WorkError): Promise<void> {
    this.configs.update(workspaceId, { dueAt: this.clock.now() + LOOK_AGAIN_MS });
    this.signals.raise({
      type: 'report',
      severity: 'warning',
      title: 'The Daily Report could not be made',
      body: `It is tried again in an hour. ${message}`,
      teamId: null,
      entity: null,
    });
    return Promise.resolve();
  }
}

function lateUnlessWritten(section: WrittenSection): WrittenSection {
  if (section.status !== 'pending') return section;
  return { ...section, status: 'late', error: LATE };
}
