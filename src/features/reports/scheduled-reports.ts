import { Injectable, type OnModuleInit } from '@nestjs/common';
import { withComputed } from '../../platform/database/beforehand.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { dayBefore, dayOf } from '../../platform/kernel/local-day.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import { Signals } from '../records/index.js';
import { DELIVER_WORK } from './deliver-report.js';
import { dueDays, nextRun } from './report-calendar.js';
import { type Configured, ReportConfigs } from './report-configs.repository.js';
import { MakeReport } from './make-report.js';

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
