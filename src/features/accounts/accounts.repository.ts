import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { sha256 } from '../../platform/kernel/canonical-json.js';
import type { AccountMail } from './account-mail.js';
import { NO_WORKSPACE } from './no-workspace.js';
import { isResetToken } from './password-reset.js';

/** A link for a new password, with the account that it is for. */
export interface PasswordReset {
  resetId: string;
  /** Null once it was mailed. */
  sealedToken: string | null;
  expiresAt: number;
  /** Not used, and no newer one was asked for. */
  isOpen: boolean;
  userId: string;
  email: string;
  displayName: string;
  passwordHash: string;
}

/** What is noted of a request. */
export interface NewPasswordReset {
  resetId: string;
  email: string;
  tokenHash: string;
  sealedToken: string;
  requestedAt: number;
  expiresAt: number;
}

const FOUND = `select reset_id, sealed_token, expires_at, is_open, user_id, email, display_name, password_hash
  from app.find_password_reset($1, $2)`;

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

  /** In the open transaction; false when the address was mailed as many as it may be. */
  async addReset(reset: NewPasswordReset): Promise<boolean> {
    const { resetId, email, tokenHash, sealedToken, requestedAt, expiresAt } = reset;
    const [row] = await this.db.query<{ added: boolean }>(
      'select app.add_password_reset($1, $2, $3, $4, $5, $6) as added',
      [resetId, email, tokenHash, sealedToken, new Date(requestedAt), new Date(expiresAt)],
    );
    return row!.added;
  }

  /** The link with this token, if it is one that was mailed to anybody. */
  async resetOfToken(token: string): Promise<PasswordReset | undefined> {
    if (!isResetToken(token)) return undefined;
    const [reset] = await this.db.read<PasswordReset>(NO_WORKSPACE, FOUND, [null, sha256(token)]);
    return reset;
  }

  /** The link with this id, if the address that it was asked for has an account with a password. */
  async readReset(resetId: string): Promise<PasswordReset | undefined> {
    const [reset] = await this.db.read<PasswordReset>(NO_WORKSPACE, FOUND, [resetId, null]);
    return reset;
  }

  /** Forgets the token itself; its hash stays. */
  endResetMail(resetId: string): void {
    this.db.write('select app.end_reset_mail($1)', [resetId]);
  }

  /** Sets the password, in the open transaction; of any number of uses at a time one answers true. */
  async useReset(
    { resetId }: Pick<PasswordReset, 'resetId'>,
    passwordHash: string,
    from: { account: string; address: string; at: number },
  ): Promise<boolean> {
    const [row] = await this.db.query<{ used: boolean }>(
      'select app.use_password_reset($1, $2, $3, $4, $5) as used',
      [resetId, passwordHash, from.account, from.address, new Date(from.at)],
    );
    return row!.used;
  }
}
