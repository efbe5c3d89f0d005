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
