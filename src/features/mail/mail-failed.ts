/**
 * `refused`: the server, or this program, says no, and would again.
 * `unreachable`: nothing was transmitted this time; another try may succeed and cannot send anything twice.
 * `unconfirmed`: the connection broke after the mail had begun to be transmitted; nobody knows whether it was sent, so it
 * must not be sent again.
 */
export type MailFailure = 'refused' | 'unreachable' | 'unconfirmed';

/** Why a mail was not sent, as far as anyone can tell. */
export class MailFailed extends Error {
  readonly retryable: boolean;

  constructor(
    readonly code: MailFailure,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'MailFailed';
    this.retryable = code === 'unreachable';
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
