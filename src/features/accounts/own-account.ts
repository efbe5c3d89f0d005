import { Injectable } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { refreshed, sharedMembership, type Standing, standingOf } from '../../platform/auth/membership.js';
import { Db } from '../../platform/database/db.js';

/**
 * What a member does to their own account. The transaction is opened after the password was held against its hash, which takes
 * a while; the session must still be open then.
 */
@Injectable()
export class OwnAccount {
  constructor(private readonly db: Db) {}

  /** @throws Unauthorized for a session that has ended meanwhile */
  act<T>(caller: Caller, act: () => Promise<T>): Promise<T> {
    return this.db.transaction(
      scopeOf(caller),
      (_unit, opened) => {
        refreshed(caller, (opened.at(-1) as Standing[])[0]);
        return act();
      },
      [sharedMembership(caller.workspaceId), standingOf(caller)],
    );
  }
}
