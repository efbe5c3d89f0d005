import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { Db } from '../../platform/database/db.js';
import { backoffMs } from '../../platform/work/backoff.js';
import { Work } from '../../platform/work/work.js';
import type { WorkError, WorkItem } from '../../platform/work/work-item.js';
import { Mailer } from '../mail/mailer.js';
import { type AccountMail, accountMail } from './account-mail.js';
import { ACCOUNT_MAIL, AccountActs } from './account-acts.js';
import { mailOutcome } from './mail-outcome.js';
import { NO_WORKSPACE } from './no-workspace.js';

/** With the growing waits between them, a mail server may be away for some minutes. */
const TRIES = 8;

/** Tells the owner of an account by mail what has changed in it, outside of any transaction. */
@Injectable()
export class SendAccountMail implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly mailer: Mailer,
    private readonly acts: AccountActs,
    private readonly logger: PinoLogger,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: ACCOUNT_MAIL,
      pool: 2,
      perQueue: 2,
      tries: TRIES,
      run: (item, signal) => this.execute(item, signal),
      giveUp: (item, error) => this.giveUp(item, error),
    });
  }

  private async execute(item: WorkItem, signal: AbortSignal): Promise<void> {
    const mail = await this.read(item.id);
    if (!mail) return;
    const outcome = await mailOutcome(() => this.mailer.send(accountMail(mail), signal));
    await this.db.transaction(NO_WORKSPACE, async () => {
      if (outcome.status === 'later') {
        this.work.reschedule(item, backoffMs(item.failures + 1), outcome.error);
        return;
      }
      if (outcome.status === 'sent') await this.end(mail);
      else await this.end(mail, outcome.error);
      this.work.complete(item);
    });
  }

  private async giveUp({ id }: WorkItem, error: WorkError): Promise<void> {
    const mail = await this.read(id);
    if (mail) await this.end(mail, error);
  }

  private async end(
    { mailId, userId, notice }: AccountMail & { userId: string },
    error?: WorkError,
  ): Promise<void> {
    this.db.write('select app.end_account_mail($1)', [mailId]);
    if (error) this.logger.warn({ userId, notice, error }, 'the owner of an account could not be mailed');
    await this.acts.record(userId, {
      action: error ? 'account.mail_failed' : 'account.mailed',
      details: error ? { about: notice, error } : { about: notice },
    });
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
