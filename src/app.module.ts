import { type DynamicModule, Module } from '@nestjs/common';
import type { DestinationStream } from 'pino';
import { GuardianModule } from './features/guardian/guardian.module.js';
import { WorkspacesModule } from './features/workspaces/workspaces.module.js';
import { Config } from './platform/config/config.js';
import type { DatabaseAddress } from './platform/database/database-address.js';
import { PlatformModule } from './platform/platform.module.js';

/** The table of contents of the product. */
@Module({})
export class AppModule {
  static forRoot(config: Config, address: DatabaseAddress, logs?: DestinationStream): DynamicModule {
    return {
      module: AppModule,
      imports: [PlatformModule.forRoot(config, address, logs), WorkspacesModule, GuardianModule],
    };
  }
}
