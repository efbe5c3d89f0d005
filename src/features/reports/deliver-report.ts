import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import { MailWork } from '../mail/index.js';
import { AnnounceReport } from './announce-report.js';
import { type OutgoingReport, SendReportMail } from './send-report-mail.js';
import { Reports } from './reports.repository.js';

/** The work of telling of a report; its id is the report's. */
export const DELIVER_WORK = 'report.deliver';
/** The work of mailing it to one recipient; its id is the mail's. */
const MAIL_WORK = 'report.mail';

/** Tells of a report that is as complete as it becomes: subscribers first, and then each recipient by mail. */
@Injectable()
export class DeliverReport implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly mailWork: MailWork,
    private readonly reports: Reports,
    private readonly announceReport: AnnounceReport,
    private readonly sendReportMail: SendReportMail,
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
    this.mailWork.declare<OutgoingReport>({
      name: MAIL_WORK,
      pool: 4,
      perQueue: 2,
      count: (outgoing, error) => this.sendReportMail.countTry(outgoing, error),
      find: ({ workspaceId, id }) => this.sendReportMail.find(workspaceId, id),
      begin: (outgoing) => this.sendReportMail.begin(outgoing),
      messageOf: (outgoing) => this.sendReportMail.messageOf(outgoing),
      ended: (outgoing, outcome) => this.sendReportMail.ended(outgoing, outcome),
    });
  }

  private async tell({ workspaceId, id }: WorkItem): Promise<void> {
    const report = await this.reports.lock(workspaceId, id);
    if (!report) return;
    this.announceReport.execute(report);
    this.enqueue(await this.sendReportMail.plan(report));
  }

  /** Makes mails due that wait, in the open transaction. */
  enqueue(mailIds: readonly string[]): void {
    this.work.enqueue(MAIL_WORK, ...mailIds.map((id) => ({ id })));
  }
}
