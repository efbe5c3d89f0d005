import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { Config } from '../config/config.js';
import { Db } from '../database/db.js';
import { Clock } from '../kernel/clock.js';
import { READS } from './limits.js';
import { MemoryStorage } from './memory-storage.js';
import { PostgresStorage } from './postgres-storage.js';
import { WindowStorage } from './window-storage.js';

/** One of the two stores of counters; the configuration chooses. */
@Module({
  providers: [
    {
      provide: WindowStorage,
      inject: [Config, Db, Clock],
      useFactory: (config: Config, db: Db, clock: Clock) =>
        config.rateLimitStore === 'memory' ? new MemoryStorage(db, clock) : new PostgresStorage(db, clock),
    },
  ],
  exports: [WindowStorage],
})
class StorageModule {}

/** The throttler with our storage behind it. */
@Module({
  imports: [
    ThrottlerModule.forRootAsync({
      imports: [StorageModule],
      inject: [WindowStorage],
      useFactory: (storage: WindowStorage) => ({
        storage,
        // The guards read each route's own limit; the throttler wants one to start with.
        throttlers: [{ name: 'route', limit: READS.limit, ttl: READS.windowSeconds * 1000 }],
      }),
    }),
    StorageModule,
  ],
  exports: [ThrottlerModule, StorageModule],
})
export class RateLimitModule {}
