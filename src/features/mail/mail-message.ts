import { isEmail } from 'class-validator';
import MailComposer from 'nodemailer/lib/mail-composer';
import { encodeWord } from 'nodemailer/lib/mime-funcs';
import { CONTROL } from '../../platform/kernel/text.js';

/** A recipient that the server refused, for now or for good, with its reply. */
export interface RefusedRecipient {
  address: string;
  response: string;
}

/**
 * `refused`: the server, or this program, says no, and would again.
 * `unreachable`: nothing was sent this time, or the server asked to come again later (4xx); another try may succeed and
 * cannot send anything twice.
 * `login`: the server does not let us in as we are configured; nothing can be sent until a person has changed that.
 * `unconfirmed`: the connection broke after the mail had begun to be transmitted; nobody knows whether it was sent, so it
 * must not be sent again.
 */
export type MailFailure = 'refused' | 'unreachable' | 'login' | 'unconfirmed';

/** Why a mail was not sent, as far as anyone can tell. */
export class MailFailed extends Error {
  readonly retryable: boolean;

  constructor(
    readonly code: MailFailure,
    message: string,
    cause?: unknown,
    /** What the server answered, if it did: for each recipient, where it refused all of them. */
    readonly reply: { rejected: readonly RefusedRecipient[] } | null = null,
  ) {
    super(message, { cause });
    this.name = 'MailFailed';
    this.retryable = code !== 'refused' && code !== 'unconfirmed';
  }

  /** Whether to wait for the connector to be healthy again, and not for a time. */
  get waitsForConnector(): boolean {
    return this.code === 'login';
  }

  /** As it is kept with what was to be mailed. */
  get workError(): { code: string; message: string } {
    return { code: `MAIL_${this.code.toUpperCase()}`, message: this.message };
  }
}

/** Why mail cannot be sent just now, in a sentence that repeats nothing of what the server said. */
export class MailProbeFailed extends Error {
  constructor(
    message: string,
    /** The server does not take our user name and password; only a person can help that. */
    readonly isRefused: boolean,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'MailProbeFailed';
  }
}

/** The code under which work waits for the mail server to let us in. */
export const LOGIN_REFUSED = 'MAIL_LOGIN';

/** A mail to send. */
export interface MailMessage {
  /** The work packet, or whatever else is sent once; names the Message-ID, and the file where mail is written to files. */
  id: string;
  /** Bare addresses. */
  to: string[];
  cc?: string[];
  /** Those of them that it goes to now, since the others have it already; left out, all. */
  recipients?: readonly string[];
  subject: string;
  /** Text, sent as it is: what was approved is what is read. Or two parts, which say the same. */
  body: string | { text: string; html: string };
  replyTo?: string;
  /** A program wrote it by itself, so no program is to answer it (RFC 3834). */
  autoSubmitted?: boolean;
  /** Where its reader ends mails of its kind (RFC 2369): a page, that a POST ends them too (RFC 8058). */
  unsubscribeUrl?: string;
}

/** A mail as it goes over the wire. */
export interface ComposedMail {
  id: string;
  messageId: string;
  from: string;
  /** Everyone the mail goes to, each once. */
  recipients: string[];
  /** RFC 5322 with CRLF. */
  bytes: Buffer;
}

interface Mailbox {
  name: string;
  address: string;
}

/** `Name <address>` or an address, as the configuration has checked it. */
function mailboxOf(text: string): Mailbox {
  const [, name = '', address = text] = /^([^<]*)<([^<>]+)>$/.exec(text) ?? [];
  return { name: name.trim().replace(/^"(.*)"$/, '$1'), address };
}

/**
 * The one RFC 5322 text of a message. Message-ID and boundaries come from the id, so that a second try at the same
 * message is the same mail to everyone who receives it twice.
 * @throws MailFailed `refused` for a header field that contains a line break, or an address that is none
 */
export async function compose(message: MailMessage, sender: string, at: number): Promise<ComposedMail> {
  const { id, to, cc = [], subject, body, replyTo } = message;
  const from = mailboxOf(sender);
  checkHeaders({ id: [id], to, cc, subject: [subject], replyTo: replyTo === undefined ? [] : [replyTo] });
  checkAddresses([...to, ...cc, ...(replyTo === undefined ? [] : [replyTo])]);
  if (to.length === 0) throw new MailFailed('refused', 'The mail has no recipient.');
  const messageId = `<${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`;
  const mail = new MailComposer({
    messageId,
    date: new Date(at),
    from,
    to: to.map(bare),
    cc: cc.map(bare),
    replyTo: replyTo === undefined ? undefined : bare(replyTo),
    subject: asTyped(subject),
    ...(typeof body === 'string' ? { text: body } : body),
    headers: headersOf(message),
    baseBoundary: id,
    newline: 'win',
  }).compile();
  const envelope = mail.getEnvelope();
  const recipients = message.recipients
    ? envelope.to.filter((address) => message.recipients!.includes(address))
    : envelope.to;
  return { id, messageId, from: String(envelope.from), recipients, bytes: await mail.build() };
}

function headersOf({ autoSubmitted, unsubscribeUrl }: MailMessage): Record<string, string> {
  return {
    ...(autoSubmitted && { 'Auto-Submitted': 'auto-generated' }),
    ...(unsubscribeUrl && { 'List-Unsubscribe': `<${unsubscribeUrl}>` }),
    // The provider of the mailbox posts it, and only to https.
    ...(unsubscribeUrl?.startsWith('https:') && { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
  };
}

/** What looks like an encoded word (RFC 2047) is encoded itself, so that it is read as it was typed and approved. */
function asTyped(subject: string): string {
  return subject.includes('=?') ? encodeWord(subject, 'B', 52) : subject;
}

/** An address object is used as it is; a string would be parsed, and could turn out to be several addresses. */
function bare(address: string): Mailbox {
  return { name: '', address };
}

function checkHeaders(fields: Record<string, string[]>): void {
  for (const [field, values] of Object.entries(fields)) {
    if (values.some((value) => CONTROL.test(value))) {
      throw new MailFailed(
        'refused',
        `The mail's ${field} contains a line break or another control character.`,
      );
    }
  }
  // The id also names a file.
  if (!/^[a-z]+_[0-9a-z]+$/.test(fields['id']![0]!))
    throw new MailFailed('refused', 'The mail has no usable id.');
}

function checkAddresses(addresses: string[]): void {
  const wrong = addresses.find((address) => !isEmail(address));
  if (wrong !== undefined) throw new MailFailed('refused', `${JSON.stringify(wrong)} is not a mail address.`);
}

/** What became of a mail that the transport accepted. */
export interface SentMail {
  messageId: string;
  /** Whom the mail goes to. */
  accepted: string[];
  /** Recipients that the server refused while it accepted the mail for the others. */
  rejected: RefusedRecipient[];
  /** `file`: it was written to a file, and nobody has received it. */
  transport: 'smtp' | 'file';
  /** The server's reply, or where the file is. */
  response: string;
}

/** A way out for mail. */
export interface MailTransport {
  /** Whether delivering the same mail again is the same as delivering it once. */
  readonly repeatable: boolean;

  /** @throws MailFailed */
  deliver(mail: ComposedMail, signal: AbortSignal): Promise<SentMail>;

  /** Goes as far as a mail would without sending one. @throws MailProbeFailed */
  probe(signal: AbortSignal): Promise<void>;
}

/**
 * What a receipt says of a mail that a transport accepted.
 * @param mail as the beginning of a sentence, such as `The Daily Report of 2026-02-18`
 * @param mailed the whole sentence where it was sent
 */
export function summaryOfMail(transport: SentMail['transport'], mail: string, mailed: string): string {
  return transport === 'file' ? `${mail} was written to a file, since no mail server is configured.` : mailed;
}
