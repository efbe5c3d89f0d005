import { type DynamicModule, Global, Module, type OnModuleInit } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { appDataSource } from './data-source.js';
import { DatabaseAddress } from './database-address.js';
import { Db } from './db.js';
import { assertIsolation, Replica } from './replica.js';
import { Channel } from './channel.js';
import { Tallies } from './tallies.js';
import { COMMITTED } from './wal-position.js';

@Global()
@Module({})
export class DatabaseModule implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly replica: Replica,
  ) {}

  static forRoot(address: DatabaseAddress): DynamicModule {
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRoot({
          ...appDataSource(address.loginUrl),
          autoLoadEntities: true,
          retryAttempts: 1,
        }),
      ],
      providers: [{ provide: DatabaseAddress, useValue: address }, Db, Replica, Channel, Tallies],
      exports: [DatabaseAddress, Db, Replica, Channel],
    };
  }

  async onModuleInit(): Promise<void> {
    await assertIsolation(this.dataSource);
    // Asked behind each COMMIT, where it must not fail.
    if (this.replica.isConfigured) await this.dataSource.query(COMMITTED.text);
  }
}
