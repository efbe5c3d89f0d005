import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { SecretUnreadable } from '../../platform/secrets/secret-box.js';
import { backoffMs } from '../../platform/work/backoff.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import type { MailMessage } from './mail-message.js';
import type { SentMail } from './mail-transport.js';
import { Mailer, MailFailed } from './mailer.js';

/** With the growing waits between them, a mail server may be away for some minutes. */
const TRIES = 8;

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
  /** What the mail is about; undefined when there is no trace of it any more. */
  find(item: WorkItem): Promise<T | undefined>;
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

  declare<T>({ name, pool, perQueue, ...kind }: MailKind<T>): void {
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

  private async run<T>(
    kind: Omit<MailKind<T>, 'name' | 'pool' | 'perQueue'>,
    item: WorkItem,
    signal: AbortSignal,
  ): Promise<void> {
    const subject = await kind.find(item);
    if (!subject) return;
    const outcome = await this.send(() => kind.messageOf(subject), signal);
    await this.db.transaction(scopeOfWork(item), async () => {
      if (outcome.status === 'later') {
        this.work.reschedule(item, backoffMs(item.failures + 1), outcome.error);
        return;
      }
      await kind.ended(subject, outcome);
      this.work.complete(item);
    });
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
