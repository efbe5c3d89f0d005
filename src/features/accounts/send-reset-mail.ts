import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { Db } from '../../platform/database/db.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Clock } from '../../platform/kernel/clock.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { backoffMs } from '../../platform/work/backoff.js';
import { Work } from '../../platform/work/work.js';
import type { WorkError, WorkItem } from '../../platform/work/work-item.js';
import { Mailer } from '../mail/mailer.js';
import { AccountActs } from './account-acts.js';
import { resetMail } from './account-mail.js';
import { mailOutcome } from './mail-outcome.js';
import { NO_WORKSPACE } from './no-workspace.js';
import { isUsable, tokenPurpose } from './password-reset.js';
import { type PasswordReset, PasswordResets } from './password-resets.repository.js';
import { RESET_MAIL } from './request-password-reset.js';

/** With the growing waits between them, a mail server may be away for some minutes. */
const TRIES = 8;

/**
 * Mails the link for a new password, outside of any transaction, and then forgets its token. A process that ends between
 * the two sends the same mail once more, under the same Message-ID.
 */
@Injectable()
export class SendResetMail implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly resets: PasswordResets,
    private readonly mailer: Mailer,
    private readonly secrets: SecretBox,
    private readonly address: PublicAddress,
    private readonly clock: Clock,
    private readonly acts: AccountActs,
    private readonly logger: PinoLogger,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: RESET_MAIL,
      pool: 4,
      perQueue: 4,
      tries: TRIES,
      run: (item, signal) => this.execute(item, signal),
      giveUp: (item, error) => this.giveUp(item, error),
    });
  }

  private async execute(item: WorkItem, signal: AbortSignal): Promise<void> {
    const reset = await this.resets.read(item.id);
    if (!reset || reset.sealedToken === null || !isUsable(reset, this.clock.now())) {
      await this.db.transaction(NO_WORKSPACE, async () => {
        this.resets.endMail(item.id);
        this.work.complete(item);
      });
      return;
    }
    const outcome = await mailOutcome(() => this.mailer.send(this.messageOf(reset), signal));
    await this.db.transaction(NO_WORKSPACE, async () => {
      if (outcome.status === 'later') {
        this.work.reschedule(item, backoffMs(item.failures + 1), outcome.error);
        return;
      }
      if (outcome.status === 'sent') await this.end(reset);
      else await this.end(reset, outcome.error);
      this.work.complete(item);
    });
  }

  /** @throws SecretUnreadable */
  private messageOf({ resetId, email, sealedToken, expiresAt }: PasswordReset) {
    const token = this.secrets.open(sealedToken!, tokenPurpose(resetId));
    return resetMail(resetId, email, `${this.address.url}/password/${token}`, expiresAt);
  }

  private async giveUp({ id }: WorkItem, error: WorkError): Promise<void> {
    const reset = await this.resets.read(id);
    if (reset) await this.end(reset, error);
  }

  private async end({ resetId, userId }: PasswordReset, error?: WorkError): Promise<void> {
    this.resets.endMail(resetId);
    if (error) this.logger.warn({ userId, error }, 'the link for a new password could not be mailed');
    await this.acts.record(userId, {
      action: error ? 'password.reset_mail_failed' : 'password.reset_mailed',
      ...(error && { details: { error } }),
    });
  }
}
