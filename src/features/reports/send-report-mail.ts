import { Injectable } from '@nestjs/common';
import { PublicAddress } from '../../platform/http/public-address.js';
import { isReachable } from '../../platform/kernel/mail-address.js';
import { scopeOfWork, type WorkError } from '../../platform/work/work-item.js';
import type { MailMessage, MailOutcome } from '../mail/index.js';
import { ReportReaders } from '../notifications/index.js';
import { urlOf } from './announce-report.js';
import { MakeReport } from './make-report.js';
import { ReportConfigs } from './report-configs.repository.js';
import { ReportDeliveries } from './report-deliveries.js';
import { reportMail } from './report-mail.js';
import type { ReportMailEntity } from './report-mail.entity.js';
import { ReportMails } from './report-mails.repository.js';
import { viewOf } from './report-view.js';
import type { ReportEntity } from './report.entity.js';
import { Reports } from './reports.repository.js';

/** Why a report is not mailed whose mail was switched off on its way. */
const SWITCHED_OFF = 'The mail of reports was switched off before this one was known to be sent.';
const NOT_NAMED = 'Its recipient was taken out of the recipients of reports before it was known to be sent.';

/** A report that is to be mailed to one recipient. */
export interface OutgoingReport {
  report: ReportEntity;
  mail: ReportMailEntity;
  workspaceName: string;
  /** Empty until it is begun. */
  to: string;
  /** The recipient; undefined: an address of no member. */
  name?: string | undefined;
  /** Those of which it tells; undefined: of all. */
  teams?: readonly { teamId: string; name: string }[] | undefined;
  /** By which its reader ends these mails; undefined: the reader is no member. */
  unsubscribeUrl?: string | undefined;
}

/** Mails a report to its recipients, each for itself: what the work of it does, step by step. */
@Injectable()
export class SendReportMail {
  constructor(
    private readonly reports: Reports,
    private readonly mails: ReportMails,
    private readonly configs: ReportConfigs,
    private readonly deliveries: ReportDeliveries,
    private readonly readers: ReportReaders,
    private readonly makeReport: MakeReport,
    private readonly address: PublicAddress,
  ) {}

  /**
   * Adds a mail for each recipient that is configured now, once; answers the ids of those that were added. In the open transaction,
   * which has locked the report.
   */
  async plan(report: ReportEntity): Promise<string[]> {
    const scope = scopeOfWork(report);
    const { email, emailAddress, memberIds } = await this.configs.read(scope);
    if (!email) return [];
    // An address that is one of the members' is mailed once.
    const [ofAddress] =
      emailAddress === null || memberIds.length === 0
        ? []
        : await this.readers.of(scope, { address: emailAddress, memberIds: [] });
    const isNamedTwice = ofAddress !== undefined && memberIds.includes(ofAddress.memberId);
    return this.mails.add(report, [
      ...(emailAddress === null || isNamedTwice ? [] : [{ memberId: null, address: emailAddress }]),
      ...memberIds.map((memberId) => ({ memberId, address: null })),
    ]);
  }

  /** Undefined when there is nothing to mail any more. In the open transaction. */
  async find(workspaceId: string, mailId: string): Promise<OutgoingReport | undefined> {
    const mail = await this.mails.lock(workspaceId, mailId);
    if (!mail || (mail.status !== 'waiting' && mail.status !== 'sending')) return undefined;
    const report = await this.reports.find(scopeOfWork(mail), mail.reportId);
    return report && { report, mail, workspaceName: '', to: '' };
  }

  /** Marks it as being sent, in the open transaction; undefined when the recipient gets none. */
  async begin(outgoing: OutgoingReport): Promise<OutgoingReport | undefined> {
    const { report, mail } = outgoing;
    const scope = scopeOfWork(report);
    const { email, emailAddress, memberIds, workspaceName } = await this.configs.read(scope);
    const isNamed =
      mail.memberId === null ? mail.address === emailAddress : memberIds.includes(mail.memberId);
    const who = { address: mail.address, memberIds: mail.memberId === null ? [] : [mail.memberId] };
    const [reader] = email && isNamed ? await this.readers.of(scope, who) : [];
    const why = reasonAgainst();
    if (why !== undefined) {
      this.deliveries.skip({ report, mail }, why);
      return undefined;
    }
    this.mails.update(mail, { status: 'sending' });
    return {
      ...outgoing,
      mail: { ...mail, status: 'sending' },
      workspaceName,
      to: mail.address ?? reader!.address,
      name: reader?.name,
      teams: reader === undefined || reader.reads === 'all' ? undefined : reader.reads,
      unsubscribeUrl: reader?.unsubscribeUrl,
    };

    function reasonAgainst(): string | undefined {
      if (!email) return SWITCHED_OFF;
      if (!isNamed) return NOT_NAMED;
      if (!reader) return undefined;
      const { name, isActive, wantsNone, reads, address } = reader;
      if (!isActive) return `${name} was removed from this workspace.`;
      if (wantsNone) return `${name} has chosen to be mailed no reports.`;
      if (reads.length === 0) return `${name} is in no team.`;
      if (!isReachable(address)) return `Nobody receives mail at ${address}.`;
      return undefined;
    }
  }

  /** With no transaction open. A mail that is sent once more has the same id, and so the same Message-ID. */
  async messageOf(outgoing: OutgoingReport): Promise<MailMessage> {
    const { report, mail, to, workspaceName, unsubscribeUrl, teams } = outgoing;
    const readable = teams ? await this.makeReport.countOfTeams(report, teams) : report;
    // Only a member can end these mails, and only a member can sign in.
    const readUrl = unsubscribeUrl && urlOf(this.address, report);
    const { format } = report;
    const options = { format, workspaceName, teams, unsubscribeUrl, readUrl };
    return { id: mail.mailId, to: [to], ...reportMail(viewOf(readable), options) };
  }

  /** Counts one more attempt that did not reach the mail server, and answers how many they are. */
  countTry({ mail }: OutgoingReport, { message }: WorkError): number {
    const tries = mail.tries + 1;
    this.mails.update(mail, { tries, error: message });
    return tries;
  }

  ended(outgoing: OutgoingReport, outcome: MailOutcome): void {
    if (outcome.status === 'sent') this.deliveries.sent(outgoing, outcome.transport);
    else if (outcome.status === 'failed') this.deliveries.fail(outgoing, outcome.error);
  }
}
