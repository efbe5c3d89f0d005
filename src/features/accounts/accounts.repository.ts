import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Via } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { sha256 } from '../../platform/kernel/canonical-json.js';
import type { KeptSecondFactor } from './second-factor.js';
import type { AccountAct } from './account-act.js';
import type { AccountMail } from './account-mail.js';

/** What concerns an account alone: it belongs to no workspace, and has a row-level view of none. */
export const NO_WORKSPACE: Scope = { workspaceId: '', teamIds: [] };

/** The queue of work on accounts. */
export const ACCOUNTS = 'accounts';

/** How long a link works. */
export const RESET_LASTS_MS = 1_800_000;

/** 256 random bits, and what is kept of them. */
export function newResetToken(): { token: string; tokenHash: string } {
  const token = randomBytes(32).toString('base64url');
  return { token, tokenHash: sha256(token) };
}

/** True for a text that is written like the token of a link. */
function isResetToken(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

/** What the token is sealed for, so that it opens in no other row. */
export function tokenPurpose(resetId: string): string {
  return `password reset ${resetId}`;
}

export function isUsable(
  { isOpen, expiresAt }: { isOpen: boolean; expiresAt: number },
  now: number,
): boolean {
  return isOpen && expiresAt > now;
}

/** Second factors belong to an account and to no workspace: every statement is a function of the database. */
@Injectable()
export class SecondFactors {
  constructor(private readonly db: Db) {}

  async find(userId: string): Promise<KeptSecondFactor | undefined> {
    const [factor] = await this.db.read<KeptSecondFactor>(
      NO_WORKSPACE,
      'select sealed_secret, begun_at, confirmed_at, recovery_codes_left from app.find_second_factor($1)',
      [userId],
    );
    return factor;
  }

  /** False when the account has a confirmed one. */
  begin(userId: string, sealedSecret: string, at: number): Promise<boolean> {
    return this.answer('app.begin_second_factor($1, $2, $3)', [userId, sealedSecret, new Date(at)]);
  }

  /** Of any number of confirmations at a time one answers true. */
  confirm(
    userId: string,
    { sealedSecret }: KeptSecondFactor,
    step: number,
    codeHashes: string[],
    at: number,
  ): Promise<boolean> {
    return this.answer('app.confirm_second_factor($1, $2, $3, $4, $5)', [
      userId,
      sealedSecret,
      step,
      codeHashes,
      new Date(at),
    ]);
  }

  /** Uses up the code of a time step; of any number of uses at a time one answers true. */
  acceptStep(userId: string, step: number, at: number): Promise<boolean> {
    return this.answer('app.accept_second_factor($1, $2, null, $3)', [userId, step, new Date(at)]);
  }

  /** Uses up a recovery code; of any number of uses at a time one answers true. */
  acceptRecoveryCode(userId: string, codeHash: string, at: number): Promise<boolean> {
    return this.answer('app.accept_second_factor($1, null, $2, $3)', [userId, codeHash, new Date(at)]);
  }

  renewRecoveryCodes(userId: string, codeHashes: string[]): Promise<boolean> {
    return this.answer('app.renew_recovery_codes($1, $2)', [userId, codeHashes]);
  }

  remove(userId: string): Promise<boolean> {
    return this.answer('app.remove_second_factor($1)', [userId]);
  }

  private async answer(call: string, values: readonly unknown[]): Promise<boolean> {
    const [row] = await this.db.query<{ done: boolean }>(`select ${call} as done`, values);
    return row!.done;
  }
}

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
interface NewPasswordReset {
  resetId: string;
  email: string;
  tokenHash: string;
  sealedToken: string;
  requestedAt: number;
  expiresAt: number;
}

const FOUND = `select reset_id, sealed_token, expires_at, is_open, user_id, email, display_name, password_hash
  from app.find_password_reset($1, $2)`;

/** How a try stands as it is counted. */
interface CountedTry {
  /** Unix milliseconds; null: it may be made now. */
  retryAt: number | null;
  /** If it fails, it is the one that locked the account for this address. */
  isLast: boolean;
  /** Whether it counts in what all addresses together may try. */
  isSlowed: boolean;
}

/** An act as it waits for its receipt. */
export interface StoredAct extends AccountAct {
  via: Via | null;
  at: number;
}

/** What is kept of an act until each workspace of its account has the receipt. */
interface NewStoredAct extends Pick<StoredAct, 'action' | 'details' | 'via' | 'at'> {
  userId: string;
  /** The workspace that has its receipt already. */
  recordedIn: string | null;
  /** Of the mail that tells the owner of the account; null: none does. */
  mailId: string | null;
}

/** Accounts belong to no workspace: statements are functions of the database, but for taking an act that a workspace is to record. */
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

  /**
   * Counts a try to sign in, whether or not there is such an account.
   * @param account what tries are counted under
   */
  async countTry(account: string, address: string, at: number): Promise<CountedTry> {
    const [counted] = await this.db.system<CountedTry>('select * from app.count_sign_in_try($1, $2, $3)', [
      account,
      address,
      new Date(at),
    ]);
    return counted!;
  }

  /** It has not failed. */
  async endTry(
    account: string,
    { address, at, isSlowed }: { address: string; at: number; isSlowed: boolean },
    hasSignedIn: boolean,
  ): Promise<void> {
    await this.db.system('select app.end_sign_in_try($1, $2, $3, $4, $5)', [
      account,
      address,
      new Date(at),
      isSlowed,
      hasSignedIn,
    ]);
  }

  /** In the open transaction. */
  addSignInLock(
    lockId: string,
    { email, address, at }: { email: string; address: string; at: number },
  ): void {
    this.db.write('select app.add_sign_in_lock($1, $2, $3, $4)', [lockId, email, address, new Date(at)]);
  }

  /** In the open transaction; undefined when the address has no account. */
  async takeSignInLock(lockId: string): Promise<{ userId: string; address: string; at: number } | undefined> {
    const [lock] = await this.db.query<{ userId: string; address: string; at: number }>(
      'select * from app.take_sign_in_lock($1)',
      [lockId],
    );
    return lock;
  }

  /** An act that has no receipt yet, with the work of recording it, in the open transaction; answers the workspaces that have it to do. */
  async addAct(act: NewStoredAct): Promise<string[]> {
    const { userId, action, via, details, at, recordedIn, mailId } = act;
    const workspaces = await this.db.query<{ workspaceId: string }>(
      'select workspace_id from app.record_account_act($1, $2, $3, $4::jsonb, $5, $6, $7) workspace_id',
      [userId, action, via, JSON.stringify(details), new Date(at), recordedIn, mailId],
    );
    return workspaces.map(({ workspaceId }) => workspaceId);
  }

  /** Undefined when its workspace is gone by now, and its chain with it. */
  async takeAct(workspaceId: string, actId: string): Promise<StoredAct | undefined> {
    const [act] = await this.db.query<StoredAct>(
      `delete from account_acts a using members m, users u
       where a.workspace_id = $1 and a.act_id = $2 and m.member_id = a.member_id and u.user_id = m.user_id
       returning a.action, a.member_id, u.display_name as name, a.via, a.details, a.at`,
      [workspaceId, actId],
    );
    return act;
  }
}
