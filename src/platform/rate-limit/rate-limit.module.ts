import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { Config } from '../config/config.js';
import { Channel } from '../database/channel.js';
import { Db } from '../database/db.js';
import { Clock } from '../kernel/clock.js';
import { AutomaticStorage, PostgresStorage, WindowUpkeep } from './postgres-storage.js';
import { READS } from './limits.js';
import { MemoryStorage } from './memory-storage.js';
import { WindowStorage } from './window-storage.js';

function storageFor({ rateLimitStore }: Config, db: Db, clock: Clock, channel: Channel): WindowStorage {
  if (rateLimitStore === 'postgres') return new PostgresStorage(db, clock);
  const memory = new MemoryStorage(db, clock);
  return rateLimitStore === 'memory'
    ? memory
    : new AutomaticStorage(memory, new PostgresStorage(db, clock), channel);
}

/** The store of counters that the configuration chooses. */
@Module({
  providers: [
    {
      provide: WindowStorage,
      inject: [Config, Db, Clock, Channel],
      useFactory: storageFor,
    },
    // For what is never refused: it needs no count that several processes share.
    {
      provide: MemoryStorage,
      inject: [Db, Clock],
      useFactory: (db: Db, clock: Clock) => new MemoryStorage(db, clock),
    },
    WindowUpkeep,
  ],
  exports: [WindowStorage, MemoryStorage],
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
