import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { newId } from '../../platform/kernel/ids.js';
import { backoffMs } from '../../platform/work/backoff.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import { Mailer, MailFailed } from '../mail/mailer.js';
import { ReportReaders } from '../notifications/report-readers.js';
import { AnnounceReport, urlOf } from './announce-report.js';
import { type Configured, ReportConfigs } from './report-configs.repository.js';
import { ReportDeliveries } from './report-deliveries.js';
import { reportMail } from './report-mail.js';
import { viewOf } from './report-view.js';
import type { ReportEntity } from './report.entity.js';
import { Reports } from './reports.repository.js';

/** The work of telling of a report; its id is the report's. */
export const DELIVER_WORK = 'report.deliver';

/** With a wait of a minute between them, a mail server may be away for a day. */
const TRIES = 24 * 60;

/** Why a report is not mailed whose mail was switched off on its way. */
const SWITCHED_OFF = 'The mail of reports was switched off before this one was known to be sent.';

/** What is configured, where mail is on. */
type MailedConfig = Configured & { emailAddress: string };

/** A mail to send. */
interface Outgoing {
  report: ReportEntity;
  mailId: string;
  address: string;
  workspaceName: string;
}

/**
 * Tells of a report: subscribers once, when its sections are written or have run out of time, and the configured address by
 * mail. A process that ends while the mail is being sent sends the same mail once more, under the same Message-ID.
 */
@Injectable()
export class DeliverReport implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly reports: Reports,
    private readonly configs: ReportConfigs,
    private readonly deliveries: ReportDeliveries,
    private readonly readers: ReportReaders,
    private readonly announceReport: AnnounceReport,
    private readonly mailer: Mailer,
    private readonly address: PublicAddress,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: DELIVER_WORK,
      pool: 4,
      perQueue: 2,
      tries: 8,
      run: (item, signal) => this.execute(item, signal),
      giveUp: (item, error) => this.giveUp(item, error),
    });
  }

  private async execute(item: WorkItem, signal: AbortSignal): Promise<void> {
    const outgoing = await this.begin(item);
    if (!outgoing) return;
    const { report, mailId: id, address, workspaceName } = outgoing;
    const { format } = report;
    const message = {
      id,
      to: [address],
      ...reportMail(viewOf(report), { format, workspaceName, url: urlOf(this.address, report) }),
    };
    try {
      const { transport } = await this.mailer.send(message, signal);
      await this.db.transaction(scopeOfWork(item), async () => {
        this.work.complete(item);
        this.deliveries.sent(report, transport);
      });
    } catch (error) {
      if (!(error instanceof MailFailed)) throw error;
      await this.db.transaction(scopeOfWork(item), async () => {
        const tries = report.mailTries + 1;
        if (error.retryable && tries < TRIES) {
          this.reports.update(report, { mailTries: tries, deliveryError: error.message });
          this.work.reschedule(item, backoffMs(tries));
        } else {
          this.work.complete(item);
          this.deliveries.fail(report, error.workError);
        }
      });
    }
  }

  /** Tells subscribers, if they were not; the mail to send, if there is one. */
  private begin(item: WorkItem): Promise<Outgoing | undefined> {
    const { workspaceId, id } = item;
    return this.db.transaction(scopeOfWork(item), async () => {
      this.work.check(item);
      const report = await this.reports.lock(workspaceId, id);
      if (report) this.announceOnce(report);
      const config = report && (await this.wantedMail(report));
      const declined = config && (await this.readers.whoDeclined(this.db.unit.scope, config.emailAddress));
      if (declined) this.deliveries.skip(report, `${declined.name} has chosen to be mailed no reports.`);
      if (!config || declined) {
        this.work.complete(item);
        return undefined;
      }
      const mailId = report.mailId ?? newId('msg');
      const change = { deliveryChannel: 'email', deliveryStatus: 'sending', mailId } as const;
      this.reports.update(report, change);
      const { workspaceName, emailAddress } = config;
      return { report: { ...report, ...change }, mailId, address: emailAddress, workspaceName };
    });
  }

  /** An on-demand report is told to nobody: who has it mailed again, mails it. */
  private announceOnce(report: ReportEntity): void {
    if (report.announcedAt === null && report.trigger === 'schedule') this.announceReport.execute(report);
  }

  /** Where to mail it, if it is to be mailed; a delivery whose mail was switched off meanwhile is ended. */
  private async wantedMail(report: ReportEntity): Promise<MailedConfig | undefined> {
    const { deliveryStatus } = report;
    if (deliveryStatus === 'sent' || deliveryStatus === 'failed') return undefined;
    const config = await this.configs.read(this.db.unit.scope);
    const { email, emailAddress } = config;
    if (email && emailAddress !== null) return { ...config, emailAddress };
    if (deliveryStatus !== 'none') this.deliveries.skip(report, SWITCHED_OFF);
    return undefined;
  }

  /** In an open transaction: what could not be mailed is told to subscribers all the same. */
  private async giveUp({ workspaceId, id }: WorkItem, { message }: WorkError): Promise<void> {
    const report = await this.reports.lock(workspaceId, id);
    if (!report) return;
    this.announceOnce(report);
    if (await this.wantedMail(report)) this.deliveries.fail(report, { code: 'UNEXPECTED', message });
  }
}
