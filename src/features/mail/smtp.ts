import { Readable } from 'node:stream';
import { parseConnectionUrl } from 'nodemailer/lib/shared';
import SMTPConnection, { type SentMessageInfo, type SMTPError } from 'nodemailer/lib/smtp-connection';
import type { Letter } from './letter.js';
import { MailFailed } from './mail-failed.js';
import type { MailTransport, SentMail } from './mail-transport.js';

/** How long connecting, the greeting, and each answer of the server may take. */
const PATIENCE_MS = 10_000;

/**
 * How long the server may still answer for a mail that has gone over when sending is called off. To cut then would
 * stop nothing, and would record as unconfirmed what most likely arrived.
 */
const LAST_WORD_MS = 2_000;

/** What nodemailer finds wrong by itself: it would find it wrong again. */
const HOPELESS = new Set(['EENVELOPE', 'EMESSAGE', 'EAUTH']);

/**
 * Sends over SMTP, one connection a mail. nodemailer's connection is used directly, since its transport does not tell
 * whether the mail had begun to go over when a connection breaks, and that decides whether it may be sent again.
 */
export class Smtp implements MailTransport {
  readonly repeatable = false;

  constructor(
    private readonly url: string,
    private readonly patienceMs = PATIENCE_MS,
  ) {}

  async deliver(letter: Letter, signal: AbortSignal): Promise<SentMail> {
    if (signal.aborted) throw calledOff(false, signal);
    const { auth, ...options } = parseConnectionUrl(this.url);
    const connection = new SMTPConnection({
      ...(options as object),
      connectionTimeout: this.patienceMs,
      greetingTimeout: this.patienceMs,
      socketTimeout: this.patienceMs,
      dnsTimeout: this.patienceMs,
      logger: false,
    });
    const body = new Handover(letter.bytes);
    return new Promise<SentMail>((resolve, reject) => {
      let lastWord: NodeJS.Timeout | undefined;
      const settled = () => {
        signal.removeEventListener('abort', abort);
        clearTimeout(lastWord);
      };
      const fail = (error: MailFailed) => {
        settled();
        connection.close();
        reject(error);
      };
      const cut = () => fail(calledOff(body.hasBegun, signal));
      const abort = () => {
        if (body.hasBegun) lastWord = setTimeout(cut, LAST_WORD_MS);
        else cut();
      };
      const step =
        <T>(next: (value: T) => void) =>
        (error: SMTPError | null | undefined, value?: T) => {
          if (error) fail(failureOf(error, body.hasBegun));
          else next(value as T);
        };
      const send = () => {
        const envelope = { from: letter.from, to: letter.recipients, size: letter.bytes.length };
        connection.send(envelope, body, step(finish));
      };
      const finish = (info: SentMessageInfo) => {
        settled();
        // Said, not waited for: the mail is the server's by now, and nothing of this connection outlives the call.
        connection.quit();
        connection.close();
        resolve(sentMail(letter, info));
      };
      signal.addEventListener('abort', abort, { once: true });
      // Stays on: an error may follow the one that settled the promise.
      connection.on(
        'error',
        step(() => undefined),
      );
      connection.connect(
        step(() => (auth && connection.allowsAuth ? connection.login(auth, step(send)) : send())),
      );
    });
  }
}

/** The bytes of a mail, which nodemailer asks for only once the server has said to go ahead with them. */
class Handover extends Readable {
  hasBegun = false;

  constructor(private readonly bytes: Buffer) {
    super();
  }

  override _read(): void {
    this.hasBegun = true;
    this.push(this.bytes);
    this.push(null);
  }
}

function sentMail({ messageId }: Letter, info: SentMessageInfo): SentMail {
  const rejected = (info.rejectedErrors ?? []).map(({ recipient, response, message }) => ({
    address: recipient ?? '',
    response: response ?? message,
  }));
  return {
    messageId,
    accepted: info.accepted.map(String),
    rejected,
    transport: 'smtp',
    response: info.response,
  };
}

/** A reply is the server's word on what it did; without one it depends on how far things had gone. */
function failureOf(error: SMTPError, hasBegun: boolean): MailFailed {
  const { responseCode: code, response } = error;
  if (code !== undefined) {
    return code >= 500
      ? new MailFailed('refused', `The mail server refused the mail: ${response}`, error)
      : new MailFailed('unreachable', `The mail server does not take the mail now: ${response}`, error);
  }
  if (hasBegun) {
    const message =
      'The connection to the mail server broke while the mail went over; whether it went out is not known.';
    return new MailFailed('unconfirmed', message, error);
  }
  return HOPELESS.has(error.code ?? '')
    ? new MailFailed('refused', `The mail cannot be sent: ${error.message}`, error)
    : new MailFailed('unreachable', `The mail server cannot be reached: ${error.message}`, error);
}

function calledOff(hasBegun: boolean, signal: AbortSignal): MailFailed {
  return hasBegun
    ? new MailFailed('unconfirmed', 'Sending was called off while the mail went over.', signal.reason)
    : new MailFailed('unreachable', 'Sending was called off before anything went over.', signal.reason);
}
