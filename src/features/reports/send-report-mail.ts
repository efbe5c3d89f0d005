import { Injectable } from '@nestjs/common';
import { PublicAddress } from '../../platform/http/public-address.js';
import { newId } from '../../platform/kernel/ids.js';
import { scopeOfWork, type WorkError } from '../../platform/work/work-item.js';
import type { MailMessage, MailOutcome } from '../mail/index.js';
import { ReportReaders } from '../notifications/index.js';
import { urlOf } from './announce-report.js';
import { ReportConfigs } from './report-configs.repository.js';
import { ReportDeliveries } from './report-deliveries.js';
import { reportMail } from './report-mail.js';
import { viewOf } from './report-view.js';
import type { ReportEntity } from './report.entity.js';
import { Reports } from './reports.repository.js';

/** Why a report is not mailed whose mail was switched off on its way. */
const SWITCHED_OFF = 'The mail of reports was switched off before this one was known to be sent.';

/** A report that is to be mailed, and to whom. */
export interface OutgoingReport {
  report: ReportEntity;
  address: string;
  workspaceName: string;
  /** By which its reader ends these mails; undefined: the reader is no member. */
  unsubscribeUrl?: string | undefined;
}

/** Mails a report to the address that is configured, if its reader wants that: what the work of it does, step by step. */
@Injectable()
export class SendReportMail {
  constructor(
    private readonly reports: Reports,
    private readonly configs: ReportConfigs,
    private readonly deliveries: ReportDeliveries,
    private readonly readers: ReportReaders,
    private readonly address: PublicAddress,
  ) {}

  /**
   * Undefined when it is not to be mailed; a delivery whose mail was switched off meanwhile is ended. In the open transaction,
   * which has locked the report.
   */
  async wanted(report: ReportEntity): Promise<OutgoingReport | undefined> {
    const { deliveryStatus } = report;
    if (deliveryStatus === 'sent' || deliveryStatus === 'failed') return undefined;
    const { email, emailAddress, workspaceName } = await this.configs.read(scopeOfWork(report));
    if (email && emailAddress !== null) return { report, address: emailAddress, workspaceName };
    if (deliveryStatus !== 'none') this.deliveries.skip(report, SWITCHED_OFF);
    return undefined;
  }

  /** Marks it as being sent, in the open transaction; undefined when the recipient wants none. */
  async begin(outgoing: OutgoingReport): Promise<OutgoingReport | undefined> {
    const { report, address } = outgoing;
    const reader = await this.readers.at(scopeOfWork(report), address);
    if (reader?.wantsNone) {
      this.deliveries.skip(report, `${reader.name} has chosen to be mailed no reports.`);
      return undefined;
    }
    const mailId = report.mailId ?? newId('msg');
    const change = { deliveryChannel: 'email', deliveryStatus: 'sending', mailId } as const;
    this.reports.update(report, change);
    return { ...outgoing, report: { ...report, ...change }, unsubscribeUrl: reader?.unsubscribeUrl };
  }

  /** A mail that is sent once more has the same id, and so the same Message-ID. */
  messageOf({ report, address: to, workspaceName, unsubscribeUrl }: OutgoingReport): MailMessage {
    const { mailId, format } = report;
    // Only a member can end these mails, and only a member can sign in.
    const readUrl = unsubscribeUrl && urlOf(this.address, report);
    const mail = reportMail(viewOf(report), { format, workspaceName, unsubscribeUrl, readUrl });
    return { id: mailId!, to: [to], ...mail };
  }

  /** Counts one more attempt that did not reach the mail server, and answers how many they are. */
  countTry({ report }: OutgoingReport, { message }: WorkError): number {
    const mailTries = report.mailTries + 1;
    this.reports.update(report, { mailTries, deliveryError: message });
    return mailTries;
  }

  ended({ report }: OutgoingReport, outcome: MailOutcome): void {
    if (outcome.status === 'sent') this.deliveries.sent(report, outcome.transport);
    else if (outcome.status === 'failed') this.deliveries.fail(report, outcome.error);
  }
}
