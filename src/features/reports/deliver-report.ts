import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { WorkItem } from '../../platform/work/work-item.js';
import { MailWork } from '../mail/index.js';
import { AnnounceReport } from './announce-report.js';
import { SendReportMail, type OutgoingReport } from './send-report-mail.js';
import { Reports } from './reports.repository.js';

/** The work of telling of a report; its id is the report's. */
export const DELIVER_WORK = 'report.deliver';

/** Tells of a report that is as complete as it becomes: subscribers first, and then the configured address by mail. */
@Injectable()
export class DeliverReport implements OnModuleInit {
  constructor(
    private readonly mailWork: MailWork,
    private readonly reports: Reports,
    private readonly announceReport: AnnounceReport,
    private readonly sendReportMail: SendReportMail,
  ) {}

  onModuleInit(): void {
    this.mailWork.declare<OutgoingReport>({
      name: DELIVER_WORK,
      pool: 4,
      perQueue: 2,
      count: (outgoing, error) => this.sendReportMail.countTry(outgoing, error),
      find: (item) => this.find(item),
      begin: (outgoing) => this.sendReportMail.begin(outgoing),
      messageOf: (outgoing) => this.sendReportMail.messageOf(outgoing),
      ended: (outgoing, outcome) => this.sendReportMail.ended(outgoing, outcome),
    });
  }

  /** Subscribers are told whatever becomes of the mail, also of one that is given up. In the open transaction. */
  private async find({ workspaceId, id }: WorkItem): Promise<OutgoingReport | undefined> {
    const report = await this.reports.lock(workspaceId, id);
    if (!report) return undefined;
    this.announceReport.execute(report);
    return this.sendReportMail.wanted(report);
  }
}
