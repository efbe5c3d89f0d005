import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { Work } from '../../platform/work/work.js';
import type { WorkItem } from '../../platform/work/work-item.js';
import { AccountActs } from './account-acts.js';
import { NO_WORKSPACE } from './no-workspace.js';
import { SignInCounts } from './sign-in-counts.repository.js';
import { SIGN_IN_LOCK } from './sign-in-tries.js';

/** Finds out whether an address that was locked has an account, after the answer: nobody can tell by its time. */
@Injectable()
export class RecordSignInLock implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly counts: SignInCounts,
    private readonly acts: AccountActs,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: SIGN_IN_LOCK,
      pool: 2,
      perQueue: 1,
      tries: 10,
      run: (item) => this.execute(item),
      giveUp: () => Promise.reject(new Error('the lock of an account must not go unrecorded')),
    });
  }

  private execute(item: WorkItem): Promise<void> {
    return this.db.transaction(NO_WORKSPACE, async () => {
      const lock = await this.counts.takeLock(item.id);
      if (lock) {
        const { userId, address, at } = lock;
        await this.acts.record(userId, { action: 'account.locked', details: { address, lockedAt: at } });
      }
      this.work.complete(item);
    });
  }
}
