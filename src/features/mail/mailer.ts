import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { Clock } from '../../platform/kernel/clock.js';
import { traced } from '../../platform/kernel/request-context.js';
import { Metrics } from '../../platform/observability/metrics.js';
import {
  MailFailed,
  type MailFailure,
  compose,
  type MailMessage,
  type MailTransport,
  type SentMail,
} from './mail-message.js';
import { FileMailTransport } from './file-mail-transport.js';
import { Smtp } from './smtp.js';

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
