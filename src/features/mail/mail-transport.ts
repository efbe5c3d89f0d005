import type { Letter } from './letter.js';

/** What became of a mail that was taken over. */
export interface SentMail {
  messageId: string;
  /** Whom the mail goes to. */
  accepted: string[];
  /** Recipients that the server refused while it took the mail for the others, with its words. */
  rejected: { address: string; response: string }[];
  transport: 'smtp' | 'outbox';
  /** The server's words, or where the file is. */
  response: string;
}

/** A way out for mail. */
export interface MailTransport {
  /** Whether delivering the same letter again is the same as delivering it once. */
  readonly repeatable: boolean;

  /** @throws MailFailed */
  deliver(letter: Letter, signal: AbortSignal): Promise<SentMail>;
}
