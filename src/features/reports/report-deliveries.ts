import { Injectable } from '@nestjs/common';
import { SYSTEM } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import type { WorkError } from '../../platform/work/work-item.js';
import { type SentMail, summaryOfMail } from '../mail/index.js';
import { Signals } from '../records/index.js';
import type { ReportMailEntity } from './report-mail.entity.js';
import { ReportMails } from './report-mails.repository.js';
import type { ReportEntity } from './report.entity.js';

/** The mail with a report to one recipient. */
interface Delivery {
  report: ReportEntity;
  mail: ReportMailEntity;
  /** Of the member; undefined: the recipient is an address. */
  name?: string | undefined;
  teams?: readonly { teamId: string }[] | undefined;
}

/** How the mail with a report has ended, in the open transaction: its row and its receipt. */
@Injectable()
export class ReportDeliveries {
  constructor(
    private readonly mails: ReportMails,
    private readonly receipts: Receipts,
    private readonly signals: Signals,
    private readonly clock: Clock,
  ) {}

  sent({ report, mail, name, teams }: Delivery, transport: SentMail['transport']): void {
    const what = `The Daily Report of ${report.date}`;
    this.mails.update(mail, { status: 'sent', at: this.clock.now(), error: null });
    this.receipts.append({
      ...subject(report),
      action: 'report.mailed',
      summary: summaryOfMail(
        transport,
        what,
        `${what} was mailed${toWhom(name)}${teams ? ', with what their teams did' : ''}.`,
      ),
      details: {
        ...named(mail),
        ...(teams && { teamIds: teams.map(({ teamId }) => teamId) }),
        transport,
        format: report.format,
      },
    });
  }

  /**
   * It is not mailed, though nothing failed; it can be read all the same, and sent again.
   *
   * @param why in a sentence
   */
  skip({ report, mail }: Delivery, why: string): void {
    this.mails.update(mail, { status: 'none', at: this.clock.now(), error: why });
    this.receipts.append({
      ...subject(report),
      action: 'report.mail_skipped',
      summary: `The Daily Report of ${report.date} was not mailed: ${why}`,
      details: named(mail),
    });
  }

  fail({ report, mail, name }: Delivery, error: WorkError): void {
    this.mails.update(mail, { status: 'failed', at: this.clock.now(), error: error.message });
    const what = `The Daily Report of ${report.date} could not be mailed${toWhom(name)}`;
    this.receipts.append({
      ...subject(report),
      action: 'report.mail_failed',
      outcome: 'failure',
      summary: `${what}. ${error.message}`,
      details: { ...named(mail), error },
    });
    this.signals.raise({
      type: 'report',
      severity: 'warning',
      title: what,
      body: `${error.message} Once that is mended, have it sent again with POST /reports/${report.reportId}/resend.`,
      score: null,
      source: SYSTEM,
      teamId: null,
      capo: null,
      entity: { type: 'report', id: report.reportId },
    });
  }
}

function toWhom(name: string | undefined): string {
  return name === undefined ? '' : ` to ${name}`;
}

function named({ mailId, memberId }: ReportMailEntity) {
  return { mailId, ...(memberId !== null && { memberId }) };
}

function subject({ reportId }: ReportEntity) {
  return { actor: SYSTEM, entity: { type: 'report', id: reportId } };
}
