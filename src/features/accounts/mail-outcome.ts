import { SecretUnreadable } from '../../platform/secrets/secret-box.js';
import type { WorkError } from '../../platform/work/work-item.js';
import { MailFailed } from '../mail/mailer.js';

/** How an attempt to mail ended: `later` when another may succeed. */
export type MailOutcome = { status: 'sent' } | { status: 'failed' | 'later'; error: WorkError };

/** What nobody foresaw is thrown on. */
export async function mailOutcome(send: () => Promise<unknown>): Promise<MailOutcome> {
  try {
    await send();
    return { status: 'sent' };
  } catch (error) {
    if (error instanceof MailFailed) {
      const { code, message, retryable } = error;
      return {
        status: retryable ? 'later' : 'failed',
        error: { code: `MAIL_${code.toUpperCase()}`, message },
      };
    }
    if (error instanceof SecretUnreadable) {
      const message = 'Its link cannot be decrypted with the SECRETS_KEY of this service; ask for another.';
      return { status: 'failed', error: { code: 'SECRET_UNREADABLE', message } };
    }
    throw error;
  }
}
