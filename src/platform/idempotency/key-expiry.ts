import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Db } from '../database/db.js';

/** Drops answers older than 24 hours, which no replay finds any more; several processes may do it at once. */
@Injectable()
export class KeyExpiry {
  constructor(private readonly db: Db) {}

  @Interval(600_000)
  async drop(): Promise<void> {
    // What fails now is dropped in ten minutes; expired answers are ignored by the claim in any case.
    await this.db.system('select app.expire_keys()').catch(() => undefined);
  }
}
