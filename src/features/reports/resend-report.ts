import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { DeliverReport } from './deliver-report.js';
import { ReportConfigs } from './report-configs.repository.js';
import { ReportMails } from './report-mails.repository.js';
import type { ReportEntity } from './report.entity.js';
import { ReportMailOff } from './reports.errors.js';
import { Reports } from './reports.repository.js';
import { SendReportMail } from './send-report-mail.js';

/** A mail needs some time to its mailbox: a repeated request meanwhile has not missed it. */
const ON_ITS_WAY_MS = 30_000;

/** Has a report mailed again, to the recipients that are configured now or to those whose mail failed; it is the report as it was made. */
@Injectable()
export class ResendReport {
  constructor(
    private readonly reports: Reports,
    private readonly configs: ReportConfigs,
    private readonly mails: ReportMails,
    private readonly sendReportMail: SendReportMail,
    private readonly deliverReport: DeliverReport,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** @throws NotFound, ReportMailOff, InvalidTransition while it is being sent, and for a moment afterwards, and where no mail failed */
  async execute(caller: Caller, reportId: string, to: 'all' | 'failed'): Promise<ReportEntity> {
    const { workspaceId } = caller;
    const { email, format } = await this.configs.lock(workspaceId);
    const report = await this.reports.lockExisting(workspaceId, reportId);
    if (!email) throw new ReportMailOff();
    const mailIds = to === 'failed' ? await this.failedAgain(report) : await this.allAgain(report);
    // The address is gone, and so are the members who were named.
    if (mailIds.length === 0) throw new ReportMailOff();
    this.reports.update(report, { format });
    this.deliverReport.enqueue(mailIds);
    this.receipts.append({
      actor: actorOf(caller),
      action: 'report.resent',
      entity: { type: 'report', id: reportId },
      summary: `${caller.name} had the Daily Report of ${report.date} mailed again${to === 'failed' ? ' to those whom it did not reach' : ''}.`,
      details: { mailIds, format },
    });
    return { ...report, format, deliveryChannel: 'email', deliveryStatus: 'waiting', deliveryAt: null };
  }

  private async failedAgain(report: ReportEntity): Promise<string[]> {
    const mailIds = await this.mails.addAgain(report);
    if (mailIds.length === 0) throw new InvalidTransition({ message: 'No mail of this report has failed.' });
    return mailIds;
  }

  private allAgain(report: ReportEntity): Promise<string[]> {
    this.assertArrived(report);
    this.mails.removeOf(report);
    return this.sendReportMail.plan(report);
  }

  /**
   * Of many who ask at once for one mail, the first has it sent. Its mail may leave before the last of them is looked at, so that
   * its status alone does not tell them apart from somebody who asks later.
   */
  private assertArrived({ deliveryStatus, deliveryAt, customSections, announcedAt }: ReportEntity): void {
    const isWritten = announcedAt !== null || customSections.every(({ status }) => status !== 'pending');
    if (deliveryStatus === 'waiting' || deliveryStatus === 'sending' || !isWritten) {
      throw new InvalidTransition({ message: 'This report is on its way already.', retryAfterSeconds: 5 });
    }
    if (deliveryStatus !== 'sent' || deliveryAt === null) return;
    // The clock of the process that sent it may be ahead of this one.
    const since = Math.abs(this.clock.now() - deliveryAt);
    if (since >= ON_ITS_WAY_MS) return;
    throw new InvalidTransition({
      message: 'This report was mailed a moment ago. Ask again in half a minute to have it mailed once more.',
      retryAfterSeconds: (ON_ITS_WAY_MS - since) / 1_000,
    });
  }
}
