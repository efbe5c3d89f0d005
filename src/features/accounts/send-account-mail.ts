import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { Db } from '../../platform/database/db.js';
import { type MailOutcome, MailWork } from '../mail/mail-work.js';
import { type AccountMail, accountMail } from './account-mail.js';
import { ACCOUNT_MAIL, AccountActs } from './account-acts.js';
import { NO_WORKSPACE } from './no-workspace.js';

/** Tells the owner of an account by mail what has changed in it. */
@Injectable()
export class SendAccountMail implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly mailWork: MailWork,
    private readonly acts: AccountActs,
    private readonly logger: PinoLogger,
  ) {}

  onModuleInit(): void {
    this.mailWork.declare<AccountMail & { userId: string }>({
      name: ACCOUNT_MAIL,
      pool: 2,
      perQueue: 2,
      find: ({ id }) => this.read(id),
      messageOf: accountMail,
      ended: (mail, outcome) => this.ended(mail, outcome),
    });
  }

  private async ended(
    { mailId, userId, notice }: AccountMail & { userId: string },
    outcome: MailOutcome,
  ): Promise<void> {
    this.db.write('select app.end_account_mail($1)', [mailId]);
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

  private async read(mailId: string): Promise<(AccountMail & { userId: string }) | undefined> {
    const [mail] = await this.db.read<Omit<AccountMail, 'mailId'> & { userId: string }>(
      NO_WORKSPACE,
      'select user_id, email, notice, at from app.account_mail($1)',
      [mailId],
    );
    return mail && { ...mail, mailId };
  }
}
