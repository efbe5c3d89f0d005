import { Readable } from 'node:stream';
import { parseConnectionUrl } from 'nodemailer/lib/shared';
import SMTPConnection, { type SentMessageInfo, type SMTPError } from 'nodemailer/lib/smtp-connection';
import type { ComposedMail } from './mail-message.js';
import { MailFailed, MailProbeFailed } from './mail-failed.js';
import type { MailTransport, SentMail } from './mail-transport.js';

/** How long connecting, the greeting, and each answer of the server may take. */
const TIMEOUT_MS = 10_000;

/**
 * How long the server may still answer for a mail that was transmitted when sending is cancelled. To cut then would
 * stop nothing, and would record as unconfirmed what most likely arrived.
 */
const ABORT_GRACE_MS = 2_000;

/** What nodemailer finds wrong by itself: it would find it wrong again. */
const HOPELESS = new Set(['EENVELOPE', 'EMESSAGE', 'EAUTH']);

/**
 * Sends over SMTP, one connection a mail. nodemailer's connection is used directly, since its transport does not tell
 * whether transmission of the mail had begun when a connection breaks, and that decides whether it may be sent again.
 */
export class Smtp implements MailTransport {
  readonly repeatable = false;

  constructor(
    private readonly url: string,
    private readonly timeoutMs = TIMEOUT_MS,
  ) {}

  async deliver(mail: ComposedMail, signal: AbortSignal): Promise<SentMail> {
    if (signal.aborted) throw cancelled(false, signal);
    const { auth, connection } = this.open();
    const body = new Handover(mail.bytes);
    return new Promise<SentMail>((resolve, reject) => {
      let graceTimer: NodeJS.Timeout | undefined;
      const cleanUp = () => {
        signal.removeEventListener('abort', abort);
        clearTimeout(graceTimer);
      };
      const fail = (error: MailFailed) => {
        cleanUp();
        connection.close();
        reject(error);
      };
      const cut = () => fail(cancelled(body.hasBegun, signal));
      const abort = () => {
        if (body.hasBegun) graceTimer = setTimeout(cut, ABORT_GRACE_MS);
        else cut();
      };
      const step =
        <T>(next: (value: T) => void) =>
        (error: SMTPError | null | undefined, value?: T) => {
          if (error) fail(failureOf(error, body.hasBegun));
          else next(value as T);
        };
      // Of the addresses with letters beyond ASCII; what the server says to a sign-in comes later.
      let refused: string[] = [];
      const send = () => {
        const to = mail.recipients.filter((address) => !refused.includes(address));
        if (to.length === 0) return fail(new MailFailed('refused', `${NO_SMTPUTF8} ${refused.join(', ')}`));
        const envelope = { from: mail.from, to, size: mail.bytes.length };
        connection.send(envelope, body, step(finish));
      };
      const finish = (info: SentMessageInfo) => {
        cleanUp();
        // Said, not waited for: the mail is the server's by now, and nothing of this connection outlives the call.
        connection.quit();
        connection.close();
        resolve(sentMail(mail, info, refused));
      };
      signal.addEventListener('abort', abort, { once: true });
      // Stays on: an error may follow the one that ended the promise.
      connection.on(
        'error',
        step(() => undefined),
      );
      connection.connect(
        step(() => {
          const takesAll = /[ -]SMTPUTF8\b/im.test(String(connection.lastServerResponse));
          refused = takesAll ? [] : mail.recipients.filter((address) => /\P{ASCII}/u.test(address));
          return auth && connection.allowsAuth ? connection.login(auth, step(send)) : send();
        }),
      );
    });
  }

  /** Connects, signs in where SMTP_URL names a user, and leaves. */
  async probe(signal: AbortSignal): Promise<void> {
    const { auth, connection } = this.open();
    let stop = () => undefined as void;
    try {
      await new Promise<void>((resolve, reject) => {
        stop = () => reject(new MailProbeFailed('The mail server did not answer in time.', false));
        signal.addEventListener('abort', stop, { once: true });
        const step = (next: () => void) => (error?: SMTPError | null) => {
          if (error) reject(probeFailureOf(error));
          else next();
        };
        connection.on(
          'error',
          step(() => undefined),
        );
        connection.connect(
          step(() => (auth && connection.allowsAuth ? connection.login(auth, step(resolve)) : resolve())),
        );
        if (signal.aborted) stop();
      });
      connection.quit();
    } finally {
      signal.removeEventListener('abort', stop);
      connection.close();
    }
  }

  private open() {
    const { auth, ...options } = parseConnectionUrl(this.url);
    const connection = new SMTPConnection({
      ...(options as object),
      connectionTimeout: this.timeoutMs,
      greetingTimeout: this.timeoutMs,
      socketTimeout: this.timeoutMs,
      dnsTimeout: this.timeoutMs,
      logger: false,
    });
    return { auth, connection };
  }
}

/** What a probe found; the reply itself may name the account, so only its number is told. */
function probeFailureOf({ code, responseCode }: SMTPError): MailProbeFailed {
  if (code === 'EAUTH' && (responseCode === undefined || responseCode >= 500)) {
    const reply = responseCode === undefined ? '' : ` (reply ${responseCode})`;
    return new MailProbeFailed(
      `The mail server refused the user name and password of SMTP_URL${reply}.`,
      true,
    );
  }
  if (responseCode !== undefined) {
    return new MailProbeFailed(`The mail server does not accept mail now (reply ${responseCode}).`, false);
  }
  if (code === 'EDNS') return new MailProbeFailed('The name of the mail server does not resolve.', false);
  if (code === 'ETLS') {
    return new MailProbeFailed('No encrypted connection to the mail server could be made.', false);
  }
  return new MailProbeFailed('The mail server cannot be reached.', false);
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

const NO_SMTPUTF8 = 'The mail server does not take addresses with letters beyond ASCII (SMTPUTF8):';

function sentMail({ messageId }: ComposedMail, info: SentMessageInfo, refused: readonly string[]): SentMail {
  const rejected = [
    ...refused.map((address) => ({ address, response: `${NO_SMTPUTF8} ${address}` })),
    ...(info.rejectedErrors ?? []).map(({ recipient, response, message }) => ({
      address: recipient ?? '',
      response: response ?? message,
    })),
  ];
  return {
    messageId,
    accepted: info.accepted.map(String),
    rejected,
    transport: 'smtp',
    response: info.response,
  };
}

/** A reply says what the server did; without one it depends on how far the transmission had gone. */
function failureOf(error: SMTPError, hasBegun: boolean): MailFailed {
  const { responseCode: code, response } = error;
  if (code !== undefined) {
    return code >= 500
      ? new MailFailed('refused', `The mail server refused the mail: ${response}`, error)
      : new MailFailed('unreachable', `The mail server does not accept the mail now: ${response}`, error);
  }
  if (hasBegun) {
    const message =
      'The connection to the mail server broke while the mail was being transmitted; it is not known whether it was sent.';
    return new MailFailed('unconfirmed', message, error);
  }
  return HOPELESS.has(error.code ?? '')
    ? new MailFailed('refused', `The mail cannot be sent: ${error.message}`, error)
    : new MailFailed('unreachable', `The mail server cannot be reached: ${error.message}`, error);
}

function cancelled(hasBegun: boolean, signal: AbortSignal): MailFailed {
  return hasBegun
    ? new MailFailed(
        'unconfirmed',
        'Sending was cancelled while the mail was being transmitted; it is not known whether it was sent.',
        signal.reason,
      )
    : new MailFailed('unreachable', 'Sending was cancelled before anything was transmitted.', signal.reason);
}
