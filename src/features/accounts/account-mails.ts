import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Clock } from '../../platform/kernel/clock.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { type MailOutcome, MailWork } from '../mail/index.js';
import { ACCOUNT_MAIL, AccountActs } from './account-acts.js';
import { type AccountMail, accountMail, resetMail } from './account-mail.js';
import { Accounts, type PasswordReset, isUsable, tokenPurpose } from './accounts.repository.js';

export const RESET_MAIL = 'password.mail';

/** Tells the owner of an account by mail what has changed in it, and mails the link for a new password, whose token it then forgets. */
@Injectable()
export class AccountMails implements OnModuleInit {
  constructor(
    private readonly mailWork: MailWork,
    private readonly accounts: Accounts,
    private readonly secrets: SecretBox,
    private readonly address: PublicAddress,
    private readonly clock: Clock,
    private readonly acts: AccountActs,
    private readonly logger: PinoLogger,
  ) {}

  onModuleInit(): void {
    this.mailWork.declare<AccountMail & { userId: string }>({
      name: ACCOUNT_MAIL,
      pool: 2,
      perQueue: 2,
      find: ({ id }) => this.accounts.mail(id),
      messageOf: accountMail,
      ended: (mail, outcome) => this.noticeEnded(mail, outcome),
    });
    this.mailWork.declare<PasswordReset>({
      name: RESET_MAIL,
      pool: 4,
      perQueue: 4,
      find: ({ id }) => this.accounts.readReset(id),
      messageOf: (reset) => this.resetMailOf(reset),
      ended: (reset, outcome) => this.resetMailEnded(reset, outcome),
    });
  }

  private async noticeEnded(
    { mailId, userId, notice }: AccountMail & { userId: string },
    outcome: MailOutcome,
  ): Promise<void> {
    this.accounts.endMail(mailId);
    if (outcome.status === 'obsolete') return;
    if (outcome.status === 'failed') {
      const { error } = outcome;
      this.logger.warn({ userId, notice, error }, 'the owner of an account could not be mailed');
      await this.acts.record(userId, { action: 'account.mail_failed', details: { about: notice, error } });
      return;
    }
    const { transport } = outcome;
    await this.acts.record(userId, { action: 'account.mailed', details: { about: notice, transport } });
  }

  /** @throws SecretUnreadable */
  private resetMailOf(reset: PasswordReset) {
    const { resetId, email, sealedToken, expiresAt } = reset;
    if (sealedToken === null || !isUsable(reset, this.clock.now())) return undefined;
    const token = this.secrets.open(sealedToken, tokenPurpose(resetId));
    return resetMail(resetId, email, `${this.address.url}/password/${token}`, expiresAt);
  }

  private async resetMailEnded({ resetId, userId }: PasswordReset, outcome: MailOutcome): Promise<void> {
    this.accounts.endResetMail(resetId);
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
