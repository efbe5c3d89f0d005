import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Clock } from '../../platform/kernel/clock.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { type MailOutcome, MailWork } from '../mail/index.js';
import { AccountActs } from './account-acts.js';
import { resetMail } from './account-mail.js';
import { isUsable, tokenPurpose } from './password-reset.js';
import { type PasswordReset, PasswordResets } from './password-resets.repository.js';
import { RESET_MAIL } from './request-password-reset.js';

/** Mails the link for a new password, and then forgets its token. */
@Injectable()
export class SendResetMail implements OnModuleInit {
  constructor(
    private readonly mailWork: MailWork,
    private readonly resets: PasswordResets,
    private readonly secrets: SecretBox,
    private readonly address: PublicAddress,
    private readonly clock: Clock,
    private readonly acts: AccountActs,
    private readonly logger: PinoLogger,
  ) {}

  onModuleInit(): void {
    this.mailWork.declare<PasswordReset>({
      name: RESET_MAIL,
      pool: 4,
      perQueue: 4,
      find: ({ id }) => this.resets.read(id),
      messageOf: (reset) => this.messageOf(reset),
      ended: (reset, outcome) => this.ended(reset, outcome),
    });
  }

  /** @throws SecretUnreadable */
  private messageOf(reset: PasswordReset) {
    const { resetId, email, sealedToken, expiresAt } = reset;
    if (sealedToken === null || !isUsable(reset, this.clock.now())) return undefined;
    const token = this.secrets.open(sealedToken, tokenPurpose(resetId));
    return resetMail(resetId, email, `${this.address.url}/password/${token}`, expiresAt);
  }

  private async ended({ resetId, userId }: PasswordReset, outcome: MailOutcome): Promise<void> {
    this.resets.endMail(resetId);
    if (outcome.status === 'obsolete') return;
    if (outcome.status === 'failed') {
      const { error } = outcome;
      this.logger.warn({ userId, error }, 'the link for a new password could not be mailed');
      await this.acts.record(userId, { action: 'password.reset_mail_failed', details: { error } });
      return;
    }
    const { transport } = outcome;
    await this.acts.record(userId, { action: 'password.reset_mailed', details: { transport } });
  }
}
