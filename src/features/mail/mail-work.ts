import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { SecretUnreadable } from '../../platform/secrets/secret-box.js';
import { backoffMs } from '../../platform/work/backoff.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import type { MailMessage } from './mail-message.js';
import type { SentMail } from './mail-transport.js';
import { Mailer, MailFailed } from './mailer.js';

/** After so many attempts that failed it is given up: with the growing waits between them, a mail server may be away for some minutes. */
const TRIES = 8;

/** With a wait of a minute between them, a mail server may be away for a day. */
export const TRIES_OF_A_DAY = 24 * 60;

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
  /** Left out, a mail server may be away for as many attempts as any other failure is tried. */
  whileUnreachable?: {
    tries: number;
    /** Counts one more in the row, and answers how many they are, in the transaction that tries it again later. */
    count(subject: T, error: WorkError): number;
  };
  /** Undefined when there is nothing to tell any more. @throws SecretUnreadable */
  messageOf(subject: T): MailMessage | undefined;
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
      tries: TRIES,
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
      const end = outcome.status === 'later' ? this.later(kind, subject, item, outcome.error) : outcome;
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
      // What is marked is this attempt's to send.
      if (begun) this.work.check(item);
      else this.work.complete(item);
      return begun;
    });
  }

  /** Has it tried again after a while; answers how it ended when it was tried often enough. */
  private later<T>(
    { whileUnreachable }: MailKind<T>,
    subject: T,
    item: WorkItem,
    error: WorkError,
  ): MailOutcome | undefined {
    if (!whileUnreachable) {
      this.work.reschedule(item, backoffMs(item.failures + 1), error);
      return undefined;
    }
    const tries = whileUnreachable.count(subject, error);
    if (tries >= whileUnreachable.tries) return { status: 'failed', error };
    this.work.reschedule(item, backoffMs(tries));
    return undefined;
  }

  /** What nobody foresaw is thrown on. */
  private async send(
    messageOf: () => MailMessage | undefined,
    signal: AbortSignal,
  ): Promise<MailOutcome | { status: 'later'; error: WorkError }> {
    try {
      const message = messageOf();
      if (!message) return { status: 'obsolete' };
      const { transport } = await this.mailer.send(message, signal);
      return { status: 'sent', transport };
    } catch (error) {
      if (error instanceof MailFailed) {
        return { status: error.retryable ? 'later' : 'failed', error: error.workError };
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
