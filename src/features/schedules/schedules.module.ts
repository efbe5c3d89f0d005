import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DirectivesModule } from '../directives/directives.module.js';
import { EscalationsModule } from '../escalations/escalations.module.js';
import { GuardianModule } from '../guardian/guardian.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { DueSchedules } from './due-schedules.js';
import { ScheduleEntity } from './schedule.entity.js';
import { SchedulesController } from './schedules.controller.js';
import { Schedules } from './schedules.repository.js';
import { ScheduleService } from './schedules.service.js';

/** @level 8 */
@Module({
  imports: [
    TypeOrmModule.forFeature([ScheduleEntity]),
    DirectivesModule,
    EscalationsModule,
    GuardianModule,
    WorkspacesModule,
  ],
  controllers: [SchedulesController],
  providers: [DueSchedules, Schedules, ScheduleService],
})
export class SchedulesModule {}
