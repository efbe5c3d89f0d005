import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { type MailOutcome, MailWork } from '../mail/index.js';
import { type AccountMail, accountMail } from './account-mail.js';
import { ACCOUNT_MAIL, AccountActs } from './account-acts.js';
import { Accounts } from './accounts.repository.js';

/** Tells the owner of an account by mail what has changed in it. */
@Injectable()
export class SendAccountMail implements OnModuleInit {
  constructor(
    private readonly mailWork: MailWork,
    private readonly accounts: Accounts,
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
      ended: (mail, outcome) => this.ended(mail, outcome),
    });
  }

  private async ended(
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
}
