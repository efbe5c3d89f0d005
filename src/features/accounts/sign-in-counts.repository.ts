import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';

/** How a try stands as it is counted. */
interface CountedTry {
  /** Unix milliseconds; null: it may be made now. */
  retryAt: number | null;
  /** If it fails, it is the one that locked the account for this address. */
  isLast: boolean;
  /** Whether it counts in what all addresses together may try. */
  isSlowed: boolean;
}

/** Tries to sign in, and the locks that come of them: they belong to no workspace, and need no account. */
@Injectable()
export class SignInCounts {
  constructor(private readonly db: Db) {}

  /** @param account what tries are counted under */
  async count(account: string, address: string, at: number): Promise<CountedTry> {
    const [counted] = await this.db.system<CountedTry>('select * from app.count_sign_in_try($1, $2, $3)', [
      account,
      address,
      new Date(at),
    ]);
    return counted!;
  }

  /** It has not failed. */
  async end(
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
  addLock(lockId: string, { email, address, at }: { email: string; address: string; at: number }): void {
    this.db.write('select app.add_sign_in_lock($1, $2, $3, $4)', [lockId, email, address, new Date(at)]);
  }

  /** In the open transaction; undefined when the address has no account. */
  async takeLock(lockId: string): Promise<{ userId: string; address: string; at: number } | undefined> {
    const [lock] = await this.db.query<{ userId: string; address: string; at: number }>(
      'select * from app.take_sign_in_lock($1)',
      [lockId],
    );
    return lock;
  }
}
