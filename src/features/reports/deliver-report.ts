import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Clock } from '../../platform/kernel/clock.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import { Work } from '../../platform/work/work.js';
import { Events } from '../events/index.js';
import { ReportMailService, urlOf } from './report-mail.service.js';
import type { ReportEntity } from './report.entity.js';
import { LATE, type WrittenSection } from './report.js';
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

function lateUnlessWritten(section: WrittenSection): WrittenSection {
  if (section.status !== 'pending') return section;
  return { ...section, status: 'late', error: LATE };
}
