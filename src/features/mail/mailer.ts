import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { access, constants, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { BlockList, isIP } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { parseConnectionUrl } from 'nodemailer/lib/shared';
import SMTPConnection, { type SentMessageInfo, type SMTPError } from 'nodemailer/lib/smtp-connection';
import { Config } from '../../platform/config/config.js';
import { Clock } from '../../platform/kernel/clock.js';
import { traced } from '../../platform/kernel/request-context.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { excerptOf } from '../../platform/outbound/excerpt.js';
import {
  compose,
  type ComposedMail,
  MailFailed,
  type MailFailure,
  type MailMessage,
  MailProbeFailed,
  type MailTransport,
  type RefusedRecipient,
  type SentMail,
} from './mail-message.js';

/** How long connecting, the greeting, and each answer of the server may take. */
const TIMEOUT_MS = 10_000;

/**
 * How long the server may still answer for a mail that was transmitted when sending is cancelled. To cut then would
 * stop nothing, and would record as unconfirmed what most likely arrived.
 */
const ABORT_GRACE_MS = 2_000;

/** What nodemailer finds wrong by itself: it would find it wrong again. */
const HOPELESS = new Set(['EENVELOPE', 'EMESSAGE']);

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

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
        if (to.length === 0) {
          const rejected = refused.map(withoutSmtpUtf8);
          const message = rejected.map(({ response }) => response).join(' ');
          return fail(new MailFailed('refused', message, undefined, { rejected }));
        }
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
    const { host = '' } = options;
    const connection = new SMTPConnection({
      // A password never goes in clear beyond this machine, unless SMTP_URL says so (`?requireTLS=false`).
      requireTLS: auth !== undefined && !isLoopback(host),
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

/** Whether a reply asks to come again later. */
export function isForNow(response: string): boolean {
  return response.startsWith('4');
}

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

function isLoopback(host: string): boolean {
  const version = isIP(host);
  return version === 0 ? host === 'localhost' : LOOPBACK.check(host, version === 6 ? 'ipv6' : 'ipv4');
}

/** Why the server does not let us in as we are configured, if it is that; what it said may name the account. */
function loginFailureOf({ code, responseCode }: SMTPError): string | undefined {
  if (code === 'EAUTH' && (responseCode === undefined || responseCode >= 500)) {
    const reply = responseCode === undefined ? '' : ` (reply ${responseCode})`;
    return `The mail server refused the user name and password of SMTP_URL${reply}.`;
  }
  // With a reply: it has refused STARTTLS, which only a password makes us insist on.
  if (code === 'ETLS' && responseCode !== undefined) {
    return 'The mail server does not offer encryption (STARTTLS), so the password of SMTP_URL is not sent to it. Use smtps://, or add ?requireTLS=false to SMTP_URL to send it in clear.';
  }
  return undefined;
}

/** What a probe found; the reply itself may name the account, so only its number is told. */
function probeFailureOf(error: SMTPError): MailProbeFailed {
  const { code, responseCode } = error;
  const login = loginFailureOf(error);
  if (login !== undefined) return new MailProbeFailed(login, true);
  if (responseCode !== undefined) {
    return new MailProbeFailed(`The mail server does not accept mail now (reply ${responseCode}).`, false);
  }
  if (code === 'EDNS') return new MailProbeFailed('The name of the mail server does not resolve.', false);
  if (code === 'ETLS') {
    return new MailProbeFailed('No encrypted connection to the mail server could be made.', false);
  }
  return new MailProbeFailed('The mail server cannot be reached.', false);
}

function withoutSmtpUtf8(address: string): RefusedRecipient {
  return {
    address,
    response: `The mail server does not take addresses with letters beyond ASCII (SMTPUTF8): ${address}`,
  };
}

function sentMail({ messageId }: ComposedMail, info: SentMessageInfo, refused: readonly string[]): SentMail {
  return {
    messageId,
    accepted: info.accepted.map(String),
    rejected: [...refused.map(withoutSmtpUtf8), ...rejectedIn(info.rejectedErrors)],
    transport: 'smtp',
    response: excerptOf(info.response),
  };
}

function rejectedIn(errors: readonly SMTPError[] = []): RefusedRecipient[] {
  return errors.map(({ recipient, response, message }) => ({
    address: recipient ?? '',
    response: excerptOf(response ?? message),
  }));
}

/** A reply says what the server did; without one it depends on how far the transmission had gone. */
function failureOf(error: SMTPError, hasBegun: boolean): MailFailed {
  const { code, responseCode } = error;
  const response = excerptOf(error.response ?? error.message);
  const login = loginFailureOf(error);
  if (login !== undefined) return new MailFailed('login', login, error);
  const rejected = rejectedIn((error as { rejectedErrors?: SMTPError[] }).rejectedErrors);
  if (rejected.length > 0 || responseCode !== undefined) {
    const isLater = rejected.some((one) => isForNow(one.response)) || responseCode! < 500;
    const each = rejected.map((one) => ` for ${one.address}: ${one.response}`).join(';');
    const says = isLater ? 'does not accept the mail now' : 'refused the mail';
    const message = `The mail server ${says}${each === '' ? `: ${response}` : each}`;
    return new MailFailed(isLater ? 'unreachable' : 'refused', message, error, { rejected });
  }
  if (hasBegun) {
    const message =
      'The connection to the mail server broke while the mail was being transmitted; it is not known whether it was sent.';
    return new MailFailed('unconfirmed', message, error);
  }
  const message = excerptOf(error.message);
  return HOPELESS.has(code ?? '')
    ? new MailFailed('refused', `The mail cannot be sent: ${message}`, error)
    : new MailFailed('unreachable', `The mail server cannot be reached: ${message}`, error);
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

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
}
