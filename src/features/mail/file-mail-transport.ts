import { randomUUID } from 'node:crypto';
import { access, constants, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ComposedMail,
  MailFailed,
  MailProbeFailed,
  type MailTransport,
  type SentMail,
} from './mail-message.js';

/** Where mail goes without a mail server: one `.eml` file each, for a person or another program to send. */
export class FileMailTransport implements MailTransport {
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

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
}
