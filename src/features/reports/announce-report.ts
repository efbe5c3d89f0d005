import { Injectable } from '@nestjs/common';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Events } from '../events/index.js';
import type { WrittenSection } from './report.js';
import type { ReportEntity } from './report.entity.js';
import { Reports } from './reports.repository.js';
import { LATE } from './section-writer.js';

/**
 * Tells subscribers of a report that the schedule made, once; a section that is not written by then stays out of it. One on
 * demand is told to nobody: who has it mailed again, mails it.
 */
@Injectable()
export class AnnounceReport {
  constructor(
    private readonly reports: Reports,
    private readonly events: Events,
    private readonly address: PublicAddress,
    private readonly clock: Clock,
  ) {}

  /** In the open transaction, which has locked the report; it is changed as its row is. */
  execute(report: ReportEntity): void {
    if (report.announcedAt !== null || report.trigger !== 'schedule') return;
    report.announcedAt = this.clock.now();
    report.customSections = report.customSections.map(lateUnlessWritten);
    const { announcedAt, customSections, reportId, date, headline } = report;
    this.reports.update(report, { announcedAt, customSections });
    this.events.record('report.daily', { reportId, date, headline, url: urlOf(this.address, report) });
  }
}

/** Where a report is read. */
export function urlOf({ url }: PublicAddress, { date }: Pick<ReportEntity, 'date'>): string {
  return `${url}/overview?view=boss&date=${date}`;
}

function lateUnlessWritten(section: WrittenSection): WrittenSection {
  if (section.status !== 'pending') return section;
  return { ...section, status: 'late', error: LATE };
}
