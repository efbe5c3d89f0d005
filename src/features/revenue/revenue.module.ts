import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventsModule } from '../events/events.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { RecordRevenue } from './record-revenue.js';
import { RevenueEventEntity } from './revenue-event.entity.js';
import { RevenueEvents } from './revenue-events.repository.js';
import { RevenueController } from './revenue.controller.js';

/** @level 3 */
@Module({
  imports: [TypeOrmModule.forFeature([RevenueEventEntity]), EventsModule, WorkspacesModule],
  controllers: [RevenueController],
  providers: [RevenueEvents, RecordRevenue],
  exports: [RevenueEvents],
})
export class RevenueModule {}
