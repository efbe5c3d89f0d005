import { randomUUID } from 'node:crypto';
import { access, constants, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { Clock } from '../../platform/kernel/clock.js';
import { traced } from '../../platform/kernel/request-context.js';
import { Metrics } from '../../platform/observability/metrics.js';
import {
  type ComposedMail,
  MailFailed,
  MailProbeFailed,
  type MailTransport,
  type SentMail,
  type MailFailure,
  compose,
  type MailMessage,
} from './mail-message.js';
import { Smtp } from './smtp.js';

/** Where mail goes without a mail server: one `.eml` file each, for a person or another program to send. */
class FileMailTransport implements MailTransport {
  readonly repeatable = true;

  constructor(private readonly directory: string) {}

  /** Writes the file once: whole or not at all, and a second time not again. */
  async deliver(mail: ComposedMail, signal: AbortSignal): Promise<SentMail> {
    const { id, messageId, recipients, bytes } = mail;
    const file = join(this.directory, `${id}.eml`);
    if (signal.aborted) throw new MailFailed('unreachable', 'Sending was cancelled.', signal.reason);
    try {
      if (!(await exists(file))) await this.write(file, bytes);
    } catch (error) {
      throw new MailFailed(
        'unreachable',
        'The mail could not be written to a file in DATA_DIR/outbox.',
        error,
      );
    }
    return {
      messageId,
      accepted: recipients,
      rejected: [],
      transport: 'file',
      response: `outbox/${id}.eml`,
    };
  }

  async probe(): Promise<void> {
    try {
      await mkdir(this.directory, { recursive: true, mode: 0o700 });
      await access(this.directory, constants.W_OK);
    } catch (error) {
      throw new MailProbeFailed('The folder DATA_DIR/outbox cannot be written to.', false, error);
    }
  }

  private async write(file: string, bytes: Buffer): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    const temporary = join(this.directory, `.${randomUUID()}.tmp`);
    try {
      await writeFile(temporary, bytes, { flag: 'wx', mode: 0o600, flush: true });
      await rename(temporary, file);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
}

export { LOGIN_REFUSED, MailFailed, MailProbeFailed, type RefusedRecipient } from './mail-message.js';

/** Sends mail through the configured server; with MAIL_TRANSPORT=file, or without SMTP_URL, each mail becomes a file in DATA_DIR/outbox. */
@Injectable()
export class Mailer {
  private readonly transport: MailTransport;
  private readonly sender: string;
  /** Called when the mail server does not let us in. */
  loginRefused: () => Promise<void> = async () => undefined;
  readonly #count: (outcome: 'sent' | 'filed' | MailFailure | 'error') => void;

  constructor(
    config: Config,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    this.#count = metrics.outcomes(
      'consigliere_mail_total',
      'Tries of this process to send a mail, by what came of them; filed is written to a file',
      ['sent', 'filed', 'refused', 'unreachable', 'login', 'unconfirmed', 'error'],
    );
    this.sender = config.mailFrom;
    this.transport =
      config.mailTransport === 'file'
        ? new FileMailTransport(join(config.dataDir, 'outbox'))
        : new Smtp(config.smtpUrl!);
  }

  /** Whether sending the same message again, after a crash, is the same as sending it once. */
  get repeatable(): boolean {
    return this.transport.repeatable;
  }

  /** Whether mail could be sent: connects and signs in, and sends nothing. @throws MailProbeFailed */
  probe(signal: AbortSignal): Promise<void> {
    return this.transport.probe(signal);
  }

  /** @throws MailFailed, which says whether another try may succeed without sending twice */
  async send(message: MailMessage, signal: AbortSignal): Promise<SentMail> {
    try {
      const mail = await compose(message, this.sender, this.clock.now());
      const sent = await traced('mail', {}, () => this.transport.deliver(mail, signal));
      this.#count(sent.transport === 'smtp' ? 'sent' : 'filed');
      return sent;
    } catch (error) {
      this.#count(error instanceof MailFailed ? error.code : 'error');
      // Only hastens a check that comes anyway.
      if (error instanceof MailFailed && error.code === 'login')
        await this.loginRefused().catch(() => undefined);
      throw error;
    }
  }
}
