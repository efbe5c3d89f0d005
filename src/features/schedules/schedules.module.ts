import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DirectivesModule } from '../directives/index.js';
import { EscalationsModule } from '../escalations/index.js';
import { GuardianModule } from '../guardian/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
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
