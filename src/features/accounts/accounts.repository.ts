import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { AccountMail } from './account-mail.js';
import { NO_WORKSPACE } from './no-workspace.js';

/** Accounts belong to no workspace: every statement is a function of the database. */
@Injectable()
export class Accounts {
  constructor(private readonly db: Db) {}

  /** In the open transaction; false when the password is no longer the one of the old hash. */
  async setPassword(userId: string, oldHash: string, newHash: string, at: number): Promise<boolean> {
    const [row] = await this.db.query<{ changed: boolean }>(
      'select app.set_password($1, $2, $3, $4) as changed',
      [userId, oldHash, newHash, new Date(at)],
    );
    return row!.changed;
  }

  /** A mail that tells the owner of an account what has changed in it; undefined once it has ended. */
  async mail(mailId: string): Promise<(AccountMail & { userId: string }) | undefined> {
    const [mail] = await this.db.read<Omit<AccountMail, 'mailId'> & { userId: string }>(
      NO_WORKSPACE,
      'select user_id, email, notice, at from app.account_mail($1)',
      [mailId],
    );
    return mail && { ...mail, mailId };
  }

  endMail(mailId: string): void {
    this.db.write('select app.end_account_mail($1)', [mailId]);
  }
}
