import { Injectable } from '@nestjs/common';
import { SYSTEM } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import type { WorkError } from '../../platform/work/work-item.js';
import { type SentMail, summaryOfMail } from '../mail/index.js';
import { Signals } from '../records/index.js';
import type { ReportEntity } from './report.entity.js';
import { Reports } from './reports.repository.js';

/** How the mail with a report has ended, in the open transaction: its row and its receipt. */
@Injectable()
export class ReportDeliveries {
  constructor(
    private readonly reports: Reports,
    private readonly receipts: Receipts,
    private readonly signals: Signals,
    private readonly clock: Clock,
  ) {}

  sent(report: ReportEntity, transport: SentMail['transport']): void {
    const deliveryAt = this.clock.now();
    const mail = `The Daily Report of ${report.date}`;
    this.reports.update(report, { deliveryStatus: 'sent', deliveryAt, deliveryError: null });
    this.receipts.append({
      ...subject(report),
      action: 'report.mailed',
      summary: summaryOfMail(transport, mail, `${mail} was mailed.`),
      details: { mailId: report.mailId, transport, format: report.format },
    });
  }

  /**
   * It is not mailed, though nothing failed; it can be read all the same, and sent again.
   *
   * @param deliveryError why, in a sentence
   */
  skip(report: ReportEntity, deliveryError: string): void {
    this.reports.update(report, { deliveryStatus: 'none', deliveryAt: this.clock.now(), deliveryError });
    this.receipts.append({
      ...subject(report),
      action: 'report.mail_skipped',
      summary: `The Daily Report of ${report.date} was not mailed: ${deliveryError}`,
    });
  }

  fail(report: ReportEntity, error: WorkError): void {
    const deliveryAt = this.clock.now();
    this.reports.update(report, { deliveryStatus: 'failed', deliveryAt, deliveryError: error.message });
    this.receipts.append({
      ...subject(report),
      action: 'report.mail_failed',
      outcome: 'failure',
      summary: `The Daily Report of ${report.date} could not be mailed. ${error.message}`,
      details: { mailId: report.mailId, error },
    });
    this.signals.raise({
      type: 'report',
      severity: 'warning',
      title: `The Daily Report of ${report.date} could not be mailed`,
      body: `${error.message} Once that is mended, have it sent again with POST /reports/${report.reportId}/resend.`,
      score: null,
      source: SYSTEM,
      teamId: null,
      capo: null,
      entity: { type: 'report', id: report.reportId },
    });
  }
}

function subject({ reportId }: ReportEntity) {
  return { actor: SYSTEM, entity: { type: 'report', id: reportId } };
}
