import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventsModule } from '../events/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { DocumentEntity } from './document.entity.js';
import { DocumentsController } from './documents.controller.js';
import { Documents } from './documents.repository.js';
import { RecordRevenue } from './record-revenue.js';
import { RevenueEventEntity } from './revenue-event.entity.js';
import { RevenueEvents } from './revenue-events.repository.js';
import { RevenueController } from './revenue.controller.js';
import { SignalEntity } from './signal.entity.js';
import { SignalsController } from './signals.controller.js';
import { Signals } from './signals.repository.js';

/** @level 3 */
@Module({
  imports: [
    TypeOrmModule.forFeature([DocumentEntity, RevenueEventEntity, SignalEntity]),
    EventsModule,
    WorkspacesModule,
  ],
  controllers: [DocumentsController, RevenueController, SignalsController],
  providers: [Documents, RecordRevenue, RevenueEvents, Signals],
  exports: [Documents, RevenueEvents, Signals],
})
export class RecordsModule {}
