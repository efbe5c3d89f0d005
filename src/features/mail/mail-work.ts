import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { SecretUnreadable } from '../../platform/secrets/secret-box.js';
import { OUTSIDE_TRIES, outsideBackoffMs } from '../../platform/work/backoff.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import type { MailMessage, SentMail } from './mail-message.js';
import { Mailer, MailFailed } from './mailer.js';

/** How the sending of a mail ended. */
export type MailOutcome =
  | { status: 'sent'; transport: SentMail['transport'] }
  | { status: 'failed'; error: WorkError }
  /** There was nothing to tell any more. */
  | { status: 'obsolete' };

/** Mails of one kind, each an item of work. */
interface MailKind<T> {
  name: string;
  pool: number;
  perQueue: number;
  /** What the mail is about; undefined when there is nothing to mail, or no trace of it any more. */
  find(item: WorkItem): Promise<T | undefined>;
  /** Marks its row as being mailed, in one transaction with {@link find}; undefined when it is not to be mailed after all. */
  begin?(subject: T): Promise<T | undefined>;
  /** Counts one more attempt in the row, and answers how many they are, in the transaction that tries it again later. */
  count?(subject: T, error: WorkError): number;
  /** Undefined when there is nothing to tell any more. @throws SecretUnreadable */
  messageOf(subject: T): MailMessage | undefined | Promise<MailMessage | undefined>;
  /** Records how it ended, in the transaction that ends the work. */
  ended(subject: T, outcome: MailOutcome): void | Promise<void>;
}

/**
 * Sends mails outside of any transaction, with a backoff where another try may succeed. A process that ends between the mail and
 * its record sends the same mail once more, under the same Message-ID.
 */
@Injectable()
export class MailWork {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly mailer: Mailer,
  ) {}

  declare<T>(kind: MailKind<T>): void {
    const { name, pool, perQueue } = kind;
    this.work.declare({
      name,
      pool,
      perQueue,
      tries: OUTSIDE_TRIES,
      run: (item, signal) => this.run(kind, item, signal),
      giveUp: async (item, error) => {
        const subject = await kind.find(item);
        if (subject) await kind.ended(subject, { status: 'failed', error });
      },
    });
  }

  private async run<T>(kind: MailKind<T>, item: WorkItem, signal: AbortSignal): Promise<void> {
    const subject = await this.begin(kind, item);
    if (!subject) return;
    const outcome = await this.send(() => kind.messageOf(subject), signal);
    await this.db.transaction(scopeOfWork(item), async () => {
      const end = outcome instanceof MailFailed ? this.later(kind, subject, item, outcome) : outcome;
      if (!end) return;
      await kind.ended(subject, end);
      this.work.complete(item);
    });
  }

  /** What is found and marked is one transaction; undefined when there is nothing to mail, and the work is complete. */
  private begin<T>(kind: MailKind<T>, item: WorkItem): Promise<T | undefined> {
    if (!kind.begin) return kind.find(item);
    return this.db.transaction(scopeOfWork(item), async () => {
      const subject = await kind.find(item);
      const begun = subject && (await kind.begin!(subject));
      // This attempt sends the mails that it marked.
      if (begun) this.work.check(item);
      else this.work.complete(item);
      return begun;
    });
  }

  /** Has it tried again later; answers how it ended when it was tried often enough. */
  private later<T>(
    kind: MailKind<T>,
    subject: T,
    item: WorkItem,
    failed: MailFailed,
  ): MailOutcome | undefined {
    const error = failed.workError;
    const tries = kind.count?.(subject, error) ?? item.failures + 1;
    if (tries >= OUTSIDE_TRIES) return { status: 'failed', error };
    this.putOff(item, failed, tries, kind.count ? 0 : 1);
    return undefined;
  }

  /** Until the time at which a mail server tries again, or until the server lets us in again. */
  putOff(item: WorkItem, failed: MailFailed, tries: number, failures = 0): void {
    if (failed.waitsForConnector) this.work.park(item, failed.workError);
    else {
      const waitMs = outsideBackoffMs(tries, failed.reply !== null);
      this.work.reschedule(item, waitMs, failures > 0 ? failed.workError : null, failures);
    }
  }

  /** What nobody foresaw is thrown on. */
  private async send(
    messageOf: () => ReturnType<MailKind<unknown>['messageOf']>,
    signal: AbortSignal,
  ): Promise<MailOutcome | MailFailed> {
    try {
      const message = await messageOf();
      if (!message) return { status: 'obsolete' };
      const { transport } = await this.mailer.send(message, signal);
      return { status: 'sent', transport };
    } catch (error) {
      if (error instanceof MailFailed) {
        return error.retryable ? error : { status: 'failed', error: error.workError };
      }
      if (error instanceof SecretUnreadable) {
        const message =
          'Its link cannot be decrypted with the SECRETS_KEY of this service; it takes a new one.';
        return { status: 'failed', error: { code: 'SECRET_UNREADABLE', message } };
      }
      throw error;
    }
  }
}
