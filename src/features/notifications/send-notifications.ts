import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { OUTSIDE_TRIES } from '../../platform/work/backoff.js';
import { Work } from '../../platform/work/work.js';
import { type Renewal, scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import { MailFailed, MailWork, Mailer, type SentMail } from '../mail/index.js';
import type { PreparedMail } from './compose-mail.js';
import { NotificationOutcomes } from './notification-outcomes.js';
import { PrepareMail } from './prepare-mail.js';

/** The id of an item is that of the member: what one member is mailed is put together by one attempt at a time. */
export const SEND_WORK = 'notification.send';

/** So many mails in one attempt; then the other members of the workspace have their turn. */
const MAILS_AT_ONCE = 5;

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
    private readonly outcomes: NotificationOutcomes,
    private readonly mailer: Mailer,
    private readonly mailWork: MailWork,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: SEND_WORK,
      pool: 4,
      perQueue: 2,
      tries: 8,
      run: (item, signal) => this.execute(item, signal),
      giveUp: (item, error) => this.giveUp(item, error),
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
      // Locked until the transaction ends: a concurrent notification waits, or is seen.
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
    let transport: SentMail['transport'];
    try {
      ({ transport } = await this.mailer.send(mail.message, signal));
    } catch (error) {
      if (!(error instanceof MailFailed)) throw error;
      await this.db.transaction(scopeOfWork(item), async () => {
        const tries = mail.tries + 1;
        if (error.retryable && tries < OUTSIDE_TRIES) {
          this.outcomes.notNow(workspaceId, mail, error.message);
          this.mailWork.putOff(item, error, tries);
        } else {
          this.outcomes.failed(workspaceId, mail, error.workError);
        }
      });
      return !this.work.hasEnded(item);
    }
    await this.db.transaction(scopeOfWork(item), async () =>
      this.outcomes.sent(workspaceId, mail, transport),
    );
    return true;
  }

  /** What is due cannot be mailed. What falls due later is, in its time. */
  private async giveUp(item: WorkItem, error: WorkError): Promise<Renewal | undefined> {
    // Locked until the transaction ends: a concurrent notification waits, or is seen.
    this.work.check(item);
    const waitMs = await this.outcomes.givenUp(item.workspaceId, item.id, error);
    return waitMs === null ? undefined : { waitMs };
  }
}
