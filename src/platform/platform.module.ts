import { type DynamicModule, Global, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import type { DestinationStream } from 'pino';
import { AdmissionModule } from './admission.module.js';
import { Config } from './config/config.js';
import { ConfigModule } from './config/config.module.js';
import type { DatabaseAddress } from './database/database-address.js';
import { DatabaseModule } from './database/database.module.js';
import { Documentation, DocumentationController } from './http/documentation.controller.js';
import { PublicAddress } from './http/public-address.js';
import { WorkModule } from './work/work.module.js';
import { Clock } from './kernel/clock.js';
import { loggingModule } from './observability/logging.js';
import { ObservabilityModule } from './observability/observability.module.js';
import { OutboundModule } from './outbound/outbound.module.js';
import { ReceiptsModule } from './receipts/receipts.module.js';
import { SecretsModule } from './secrets/secrets.module.js';

/** What every feature stands on. No business word in here. */
@Global()
@Module({})
export class PlatformModule {
  static forRoot(config: Config, address: DatabaseAddress, logs?: DestinationStream): DynamicModule {
    return {
      module: PlatformModule,
      imports: [
        loggingModule(config, logs),
        ConfigModule.forRoot(config),
        ScheduleModule.forRoot(),
        DatabaseModule.forRoot(address),
        AdmissionModule,
        SecretsModule,
        ReceiptsModule,
        WorkModule,
        OutboundModule,
        ObservabilityModule,
      ],
      controllers: [DocumentationController],
      providers: [Clock, Documentation, PublicAddress],
      exports: [Clock, PublicAddress, AdmissionModule, ObservabilityModule],
    };
  }
}
