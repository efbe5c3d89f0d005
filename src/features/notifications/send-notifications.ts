import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { SYSTEM } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { backoffMs } from '../../platform/work/backoff.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import { Mailer, MailFailed } from '../mail/mailer.js';
import { Notifications } from './notifications.repository.js';
import { PrepareMail, type PreparedMail } from './prepare-mail.js';

/** The id of an item is that of the member: what one member is mailed is put together by one attempt at a time. */
export const SEND_WORK = 'notification.send';

/** So many mails in one attempt; then the other members of the workspace have their turn. */
const MAILS_AT_ONCE = 5;
/** With a wait of a minute between them, a mail server may be away for a day. */
const TRIES = 24 * 60;

/**
 * Mails members what waits for them, outside of any transaction. What a mail says is put together, and held against what is
 * still so, right before it is sent. A process that ends while a mail is being sent sends the same mail once more, under the same
 * Message-ID and with the same links.
 */
@Injectable()
export class SendNotifications implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly prepareMail: PrepareMail,
    private readonly notifications: Notifications,
    private readonly mailer: Mailer,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
    private readonly logger: PinoLogger,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: SEND_WORK,
      pool: 4,
      perQueue: 2,
      tries: 8,
      run: (item, signal) => this.execute(item, signal),
      giveUp: async ({ workspaceId, id }, error) => {
        this.notifications.giveUp(workspaceId, id, error.message, this.clock.now());
        this.logger.error({ workspaceId, memberId: id, error }, 'a member could not be mailed what waits');
      },
    });
  }

  private async execute(item: WorkItem, signal: AbortSignal): Promise<void> {
    for (let mails = 0; mails < MAILS_AT_ONCE; mails++) {
      const mail = await this.prepare(item);
      if (!mail) return;
      if (!(await this.send(item, mail, signal))) return;
    }
    await this.db.transaction(scopeOfWork(item), async () => this.work.reschedule(item, 0));
  }

  /** The next mail to send; undefined when there is none, and the item is then due when there may be one. */
  private prepare(item: WorkItem): Promise<PreparedMail | undefined> {
    return this.db.transaction(scopeOfWork(item), async () => {
      // Locked until the transaction ends: whoever adds a notification waits, or is seen.
      this.work.check(item);
      const next = await this.prepareMail.execute(item.workspaceId, item.id);
      if (next.mail) return next.mail;
      if (next.waitMs === null) this.work.complete(item);
      else this.work.reschedule(item, next.waitMs);
      return undefined;
    });
  }

  /** False when the mail server cannot be reached, so that the item waits. */
  private async send(item: WorkItem, mail: PreparedMail, signal: AbortSignal): Promise<boolean> {
    const { workspaceId } = item;
    const { mailId, tries } = mail;
    let transport: 'smtp' | 'file';
    try {
      ({ transport } = await this.mailer.send(mail.message, signal));
    } catch (error) {
      if (!(error instanceof MailFailed)) throw error;
      await this.db.transaction(scopeOfWork(item), async () => {
        if (error.retryable && tries + 1 < TRIES) {
          this.notifications.countTry(workspaceId, mailId, error.message);
          this.work.reschedule(item, backoffMs(tries + 1));
        } else {
          this.fail(workspaceId, mail, error);
        }
      });
      return !this.work.hasEnded(item);
    }
    await this.db.transaction(scopeOfWork(item), async () => {
      const at = this.clock.now();
      this.notifications.endMail(workspaceId, mailId, { status: 'sent', reason: null, at });
      const { name, what, details, ...receipt } = mail.receipt;
      this.receipts.append({
        ...receipt,
        actor: SYSTEM,
        action: 'notification.mailed',
        summary:
          transport === 'file'
            ? `The mail to ${name} about ${what} was written to a file, since no mail server is configured.`
            : `${name} was mailed about ${what}.`,
        details: { ...details, mailId, transport },
      });
    });
    return true;
  }

  private fail(workspaceId: string, mail: PreparedMail, { code, message }: MailFailed): void {
    const { mailId } = mail;
    const { name, what, details, ...receipt } = mail.receipt;
    const at = this.clock.now();
    this.notifications.endMail(workspaceId, mailId, { status: 'failed', reason: message, at });
    this.receipts.append({
      ...receipt,
      actor: SYSTEM,
      action: 'notification.mail_failed',
      outcome: 'failure',
      summary: `${name} could not be mailed about ${what}. ${message}`,
      details: { ...details, mailId, error: { code: `MAIL_${code.toUpperCase()}`, message } },
    });
  }
}
