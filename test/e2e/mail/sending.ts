import type { MailMessage } from '../../../src/features/mail/mail-message.js';
import { Mailer, MailFailed } from '../../../src/features/mail/mailer.js';
import { loadConfig } from '../../../src/platform/config/config.js';
import { Clock } from '../../../src/platform/kernel/clock.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Metrics } from '../../../src/platform/observability/metrics.js';

/** A sender whose name a careless program would take for two addresses. */
export const FROM = 'Ada, at Acme <ada@acme.example>';

export function message(change: Partial<MailMessage> = {}): MailMessage {
  return {
    id: newId('pkt'),
    to: ['bob@buyer.example'],
    subject: 'Offer',
    body: 'Dear Bob,\n\nhere is our **offer**.',
    ...change,
  };
}

/** Sends through the server at `url`, as the program would. */
export function sendTo(
  url: string,
  change: Partial<MailMessage> = {},
  signal = new AbortController().signal,
) {
  const config = loadConfig({ NODE_ENV: 'test', MAIL_FROM: FROM, SMTP_URL: url });
  return new Mailer(config, new Clock(), new Metrics()).send(message(change), signal);
}

/** The failure of a sending that must fail. */
export async function failure(sending: Promise<unknown>): Promise<MailFailed> {
  const outcome = await sending.then(
    () => new Error('it was sent'),
    (error: unknown) => error,
  );
  if (outcome instanceof MailFailed) return outcome;
  throw outcome;
}
