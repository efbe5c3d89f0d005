import { Injectable, type OnModuleInit } from '@nestjs/common';
import { actorOf, type Caller, SYSTEM } from '../../platform/auth/caller.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import { isReachable } from '../../platform/kernel/mail-address.js';
import { cutText } from '../../platform/kernel/text.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { scopeOfWork, type WorkError } from '../../platform/work/work-item.js';
import { Work } from '../../platform/work/work.js';
import {
  type Block,
  type MailMessage,
  mailOf,
  type MailOutcome,
  MailWork,
  oneLine,
  type SentMail,
  summaryOfMail,
} from '../mail/index.js';
import { NotificationChoiceService, unsubscribeBlocks } from '../notifications/index.js';
import { Signals } from '../records/index.js';
import { MakeReport } from './make-report.js';
import { ReportConfigs } from './report-configs.repository.js';
import { markdownOf, outlineOf, type Part, teamsInWords, titleOf } from './report-outline.js';
import { viewOf } from './report.service.js';
import type { ReportEntity, ReportMailEntity } from './report.entity.js';
import type { DailyReport, ReportFormat } from './report.js';
import { ReportMailOff } from './reports.errors.js';
import { Reports } from './reports.repository.js';

/** Some mail programs cut what is larger than 100 KB, and what is loaded on the road should be less. */
const MAX_HTML_BYTES = 60_000;
/** How much of each section of the workspace's own is mailed; less where the mail would be too large. */
const TEXT_LENGTHS = [4_000, 1_500, 500, 100];

/** The mail with a report, in the format that was configured. */
export function reportMail(
  report: DailyReport,
  {
    format,
    workspaceName,
    teams,
    unsubscribeUrl,
    readUrl,
  }: {
    format: ReportFormat;
    workspaceName: string;
    /** Those that the report tells of; undefined: it tells of all. */
    teams?: readonly { name: string }[] | undefined;
    /** For a member of the workspace. */
    unsubscribeUrl?: string | undefined;
    /** Where a member reads it; nobody else could open that. */
    readUrl?: string | undefined;
  },
): Omit<MailMessage, 'id' | 'to'> {
  const title = titleOf(report, teams);
  const subject = `${title}: ${report.headline}`;
  const footer: Block[] = [
    ...(teams === undefined
      ? []
      : [
          {
            kind: 'text',
            text: `It tells what ${teamsInWords(teams)} did, which is what you may read.`,
          } as const,
        ]),
    ...(readUrl === undefined
      ? []
      : [{ kind: 'reference', text: 'Read it and the days before it:', url: readUrl } as const]),
    {
      kind: 'text',
      text: `Consigliere mails you this for ${oneLine(workspaceName)}, whose admins have named this address and can change that.`,
    },
    ...unsubscribeBlocks(unsubscribeUrl),
  ];
  const list = unsubscribeUrl !== undefined && { unsubscribeUrl };
  const html = (length: number) => ({
    ...mailOf(subject, [{ kind: 'heading', text: title }, ...blocksOf(report, length), ...footer]),
    ...list,
  });
  let mail = html(TEXT_LENGTHS[0]!);
  if (format !== 'email') {
    // As the API answers its reader.
    const json = { ...report, partial: report.partial || teams !== undefined };
    const body = format === 'json' ? `${JSON.stringify(json, null, 2)}\n` : markdownOf(report, teams);
    return { ...mail, body };
  }
  for (const length of TEXT_LENGTHS.slice(1)) {
    if (sizeOf(mail) <= MAX_HTML_BYTES) break;
    mail = html(length);
  }
  return mail;
}

/** The work of mailing a report to one recipient; its id is the mail's. */
const MAIL_WORK = 'report.mail';

/** Why a report is not mailed whose mail was switched off on its way. */
const SWITCHED_OFF = 'The mail of reports was switched off before this one was known to be sent.';

const NOT_NAMED = 'Its recipient was taken out of the recipients of reports before it was known to be sent.';

/** A report that is to be mailed to one recipient. */
interface OutgoingReport {
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

/** A mail needs some time to its mailbox: a repeated request meanwhile has not missed it. */
const ON_ITS_WAY_MS = 30_000;

/** Mails a report to its recipients, each for itself. */
@Injectable()
export class ReportMailService implements OnModuleInit {
  constructor(
    private readonly reports: Reports,
    private readonly configs: ReportConfigs,
    private readonly choices: NotificationChoiceService,
    private readonly makeReport: MakeReport,
    private readonly address: PublicAddress,
    private readonly work: Work,
    private readonly mailWork: MailWork,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
    private readonly signals: Signals,
  ) {}

  onModuleInit(): void {
    this.mailWork.declare<OutgoingReport>({
      name: MAIL_WORK,
      pool: 4,
      perQueue: 2,
      count: (outgoing, error) => this.countTry(outgoing, error),
      find: ({ workspaceId, id }) => this.find(workspaceId, id),
      begin: (outgoing) => this.begin(outgoing),
      messageOf: (outgoing) => this.messageOf(outgoing),
      ended: (outgoing, outcome) => this.ended(outgoing, outcome),
    });
  }

  /** Makes mails due that wait, in the open transaction. */
  enqueue(mailIds: readonly string[]): void {
    this.work.enqueue(MAIL_WORK, ...mailIds.map((id) => ({ id })));
  }

  /**
   * Adds a mail for each recipient that is configured now, once; answers the ids of those that were added. In the open
   * transaction, which has locked the report.
   */
  async plan(report: ReportEntity): Promise<string[]> {
    const scope = scopeOfWork(report);
    const { email, emailAddress, memberIds } = await this.configs.read(scope);
    if (!email) return [];
    // An address that is one of the members' is mailed once.
    const [ofAddress] =
      emailAddress === null || memberIds.length === 0
        ? []
        : await this.choices.reportReaders(scope, { address: emailAddress, memberIds: [] });
    const isNamedTwice = ofAddress !== undefined && memberIds.includes(ofAddress.memberId);
    return this.reports.addMails(report, [
      ...(emailAddress === null || isNamedTwice ? [] : [{ memberId: null, address: emailAddress }]),
      ...memberIds.map((memberId) => ({ memberId, address: null })),
    ]);
  }

  /** Undefined when there is nothing to mail any more. In the open transaction. */
  async find(workspaceId: string, mailId: string): Promise<OutgoingReport | undefined> {
    const mail = await this.reports.lockMail(workspaceId, mailId);
    if (!mail || (mail.status !== 'waiting' && mail.status !== 'sending')) return undefined;
    const report = await this.reports.find(scopeOfWork(mail), mail.reportId);
    return report && { report, mail, workspaceName: '', to: '' };
  }

  /** Marks it as being sent, in the open transaction; undefined when the recipient gets none. */
  async begin(outgoing: OutgoingReport): Promise<OutgoingReport | undefined> {
    const { report, mail } = outgoing;
    const scope = scopeOfWork(report);
    const { email, emailAddress, memberIds, isAddressInvited, workspaceName } =
      await this.configs.read(scope);
    const isNamed =
      mail.memberId === null ? mail.address === emailAddress : memberIds.includes(mail.memberId);
    const who = { address: mail.address, memberIds: mail.memberId === null ? [] : [mail.memberId] };
    const [reader] = email && isNamed ? await this.choices.reportReaders(scope, who) : [];
    const why = reasonAgainst();
    if (why !== undefined) {
      this.skip(outgoing, why);
      return undefined;
    }
    this.reports.updateMail(mail, { status: 'sending' });
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
      if (mail.address !== null && isAddressInvited)
        return 'Somebody is invited by this address, and is mailed reports once that is accepted.';
      if (!reader) return undefined;
      const { name, isActive, wantsNone, reads, address } = reader;
      if (!isActive) return `${name} was removed from this workspace.`;
      if (wantsNone) return `${name} has chosen to be mailed no reports.`;
      if (reads.length === 0) return `${name} is in no team.`;
      if (!isReachable(address)) return `Nobody receives mail at the address of ${name}.`;
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
    this.reports.updateMail(mail, { tries, error: message });
    return tries;
  }

  ended(outgoing: OutgoingReport, outcome: MailOutcome): void {
    if (outcome.status === 'sent') this.sent(outgoing, outcome.transport);
    else if (outcome.status === 'failed') this.fail(outgoing, outcome.error);
  }

  /**
   * Has a report mailed again, to the recipients that are configured now or to those whose mail failed; it is the report as it
   * was made.
   * @throws NotFound, ReportMailOff, InvalidTransition while it is being sent, and for a moment afterwards, and where no mail
   * failed
   */
  async resend(caller: Caller, reportId: string, to: 'all' | 'failed'): Promise<ReportEntity> {
    const { workspaceId } = caller;
    const { email, format } = await this.configs.lock(workspaceId);
    const report = await this.reports.lockExisting(workspaceId, reportId);
    if (!email) throw new ReportMailOff();
    const mailIds = to === 'failed' ? await this.failedAgain(report) : await this.allAgain(report);
    // The address is gone, and so are the members who were named.
    if (mailIds.length === 0) throw new ReportMailOff();
    this.reports.update(report, { format });
    this.enqueue(mailIds);
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
    const mailIds = await this.reports.addMailsAgain(report);
    if (mailIds.length === 0) throw new InvalidTransition({ message: 'No mail of this report has failed.' });
    return mailIds;
  }

  private allAgain(report: ReportEntity): Promise<string[]> {
    this.assertArrived(report);
    this.reports.removeMails(report);
    return this.plan(report);
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

  private sent({ report, mail, name, teams }: OutgoingReport, transport: SentMail['transport']): void {
    const what = `The Daily Report of ${report.date}`;
    this.reports.updateMail(mail, { status: 'sent', at: this.clock.now(), error: null });
    this.receipts.append({
      ...aboutReport(report),
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
  private skip({ report, mail }: OutgoingReport, why: string): void {
    this.reports.updateMail(mail, { status: 'none', at: this.clock.now(), error: why });
    this.receipts.append({
      ...aboutReport(report),
      action: 'report.mail_skipped',
      summary: `The Daily Report of ${report.date} was not mailed: ${why}`,
      details: named(mail),
    });
  }

  private fail({ report, mail, name }: OutgoingReport, error: WorkError): void {
    this.reports.updateMail(mail, { status: 'failed', at: this.clock.now(), error: error.message });
    const what = `The Daily Report of ${report.date} could not be mailed${toWhom(name)}`;
    this.receipts.append({
      ...aboutReport(report),
      action: 'report.mail_failed',
      outcome: 'failure',
      // A mail server may quote the address, which only admins read.
      summary: `${what}.`,
      details: { ...named(mail), error: { code: error.code } },
    });
    this.signals.raise({
      type: 'report',
      severity: 'warning',
      title: what,
      body: `The list of reports says why. Once that is mended, have it sent again with POST /reports/${report.reportId}/resend.`,
      teamId: null,
      entity: { type: 'report', id: report.reportId },
    });
  }
}

function blocksOf(report: DailyReport, length: number): Block[] {
  return [
    { kind: 'text', text: report.headline },
    ...outlineOf(report).flatMap((part) => blocksOfPart(part, length)),
    { kind: 'text', text: `Days and times are those of ${report.timezone}.` },
  ];
}

function blocksOfPart({ title, facts, items, note, text, warning }: Part, length: number): Block[] {
  return [
    { kind: 'heading', text: title },
    ...(warning === undefined ? [] : [{ kind: 'warning', text: warning } as const]),
    ...(facts.length === 0 ? [] : [{ kind: 'facts', facts } as const]),
    ...(items.length === 0 ? [] : [{ kind: 'list', items } as const]),
    ...(text === undefined
      ? []
      : [{ kind: 'quote', text: cutText(text, length, '… (the rest stands in the report)') } as const]),
    ...(note === undefined ? [] : [{ kind: 'text', text: note } as const]),
  ];
}

function sizeOf({ body }: Pick<MailMessage, 'body'>): number {
  return typeof body === 'string' ? 0 : Buffer.byteLength(body.html);
}

/** Where a report is read. */
export function urlOf({ url }: PublicAddress, { date }: Pick<ReportEntity, 'date'>): string {
  return `${url}/overview?view=boss&date=${date}`;
}

function toWhom(name: string | undefined): string {
  return name === undefined ? '' : ` to ${name}`;
}

function named({ mailId, memberId }: ReportMailEntity) {
  return { mailId, ...(memberId !== null && { memberId }) };
}

function aboutReport({ reportId }: ReportEntity) {
  return { actor: SYSTEM, entity: { type: 'report', id: reportId } };
}
