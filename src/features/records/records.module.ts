import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventsModule } from '../events/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { DocumentEntity, RevenueEventEntity, SignalEntity } from './records.entity.js';
import { DocumentsController, RevenueController, SignalsController } from './records.controller.js';
import { Documents } from './documents.repository.js';
import { RecordRevenue } from './record-revenue.js';
import { RevenueEvents } from './revenue-events.repository.js';
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
