import type { RefusedRecipient } from './mail-failed.js';
import type { ComposedMail } from './mail-message.js';

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
