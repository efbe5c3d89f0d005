import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { Db } from '../../platform/database/db.js';
import { sha256 } from '../../platform/kernel/canonical-json.js';
import { Clock } from '../../platform/kernel/clock.js';
import { DomainError } from '../../platform/kernel/define-error.js';
import { RateLimited } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { foldedMailAddress } from '../../platform/kernel/mail-address.js';
import type { WorkItem } from '../../platform/work/work-item.js';
import { Work } from '../../platform/work/work.js';
import { AccountActs } from './record-account-act.js';
import { Accounts, ACCOUNTS, NO_WORKSPACE } from './accounts.repository.js';

const SIGN_IN_LOCK = 'account.lock';

/** As migrations/functions/count-sign-in-try.sql counts them. */
const TRIES_BEFORE_LOCK = 10;

/** The reasons by which a password or a code is refused. */
const FAILURES: ReadonlySet<string> = new Set(['invalid_credentials', 'wrong_password', 'wrong_code']);

/** A try that is counted as failed until it turns out otherwise. */
interface SignInTry {
  email: string;
  address: string;
  at: number;
  /** If it fails, it is the one that locked the account for this address. */
  isLast: boolean;
  /** Whether it counts in what all addresses together may try. */
  isSlowed: boolean;
}

/**
 * Counts failures of password and second factor together, by account and address (CONTRACT section 5, Admin). Each try is
 * counted before anything is verified, in one statement, so that no number of tries at a time, in however many processes,
 * verifies more than the bound. An address that has no account is counted, refused and written about like any other.
 */
@Injectable()
export class SignInTries implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly accounts: Accounts,
    private readonly work: Work,
    private readonly acts: AccountActs,
    private readonly clock: Clock,
    private readonly logger: PinoLogger,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: SIGN_IN_LOCK,
      pool: 2,
      perQueue: 1,
      tries: 10,
      run: (item) => this.recordLock(item),
      giveUp: () => Promise.reject(new Error('the lock of an account must not go unrecorded')),
    });
  }

  /** Signs in by `act`. @throws what it throws; RateLimited */
  async signIn<T>(email: string, address: string, act: () => Promise<T>): Promise<T> {
    return this.counted(email, address, true, act);
  }

  /** Proves by `act` that the signed-in person has the account. @throws what it throws; RateLimited */
  async prove<T>(email: string, address: string, act: () => Promise<T>): Promise<T> {
    return this.counted(email, address, false, act);
  }

  /** What ends for another reason than a wrong password or code has not failed. */
  private async counted<T>(
    email: string,
    address: string,
    signsIn: boolean,
    act: () => Promise<T>,
  ): Promise<T> {
    const one = await this.count(email, address);
    let done: T;
    try {
      done = await act();
    } catch (error) {
      if (error instanceof DomainError && FAILURES.has(error.reason)) await this.failed(one);
      else await this.end(one, false);
      throw error;
    }
    // What was done stands. The try counts as failed at worst.
    await this.end(one, signsIn).catch((error: unknown) =>
      this.logger.warn({ err: error }, 'a try that succeeded could not be counted as such'),
    );
    return done;
  }

  /** @throws RateLimited while the account is locked for this address, or slowed for all that are new to it */
  private async count(email: string, address: string): Promise<SignInTry> {
    const at = this.clock.now();
    const { retryAt, isLast, isSlowed } = await this.accounts.countTry(accountOf(email), address, at);
    if (retryAt !== null) throw tooMany(retryAt - at);
    return { email: foldedMailAddress(email), address, at, isLast, isSlowed };
  }

  /** The try failed. If that locked an account, its owner is notified. */
  private async failed({ email, address, at, isLast }: SignInTry): Promise<void> {
    if (!isLast) return;
    await this.db.transaction(NO_WORKSPACE, async () => {
      const id = newId('lck');
      this.accounts.addSignInLock(id, { email, address, at });
      this.work.enqueue(SIGN_IN_LOCK, { id, queue: ACCOUNTS });
    });
  }

  /** It has not failed. Once somebody has signed in, what failed for this account and address before counts no more. */
  private async end(one: SignInTry, hasSignedIn: boolean): Promise<void> {
    await this.accounts.endTry(accountOf(one.email), one, hasSignedIn);
  }

  /** Finds out whether an address that was locked has an account, after the answer: nobody can tell by its time. */
  private recordLock(item: WorkItem): Promise<void> {
    return this.db.transaction(NO_WORKSPACE, async () => {
      const lock = await this.accounts.takeSignInLock(item.id);
      if (lock) {
        const { userId, address, at } = lock;
        await this.acts.record(userId, { action: 'account.locked', details: { address, lockedAt: at } });
      }
      this.work.complete(item);
    });
  }
}

/** What tries are counted under, whether or not the address has an account. */
export function accountOf(email: string): string {
  return sha256(foldedMailAddress(email));
}

function tooMany(waitMs: number) {
  return new RateLimited({
    reason: 'sign_in_locked',
    message: 'There were too many failed attempts to sign in to this account; try again later.',
    retryAfterSeconds: waitMs / 1000,
    details: { policy: 'sign-in', limit: TRIES_BEFORE_LOCK, windowSeconds: 900 },
  });
}
