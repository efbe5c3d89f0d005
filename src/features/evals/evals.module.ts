import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CaposModule } from '../capos/index.js';
import { DirectivesModule } from '../directives/index.js';
import { StandingOrdersModule } from '../standing-orders/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { EvalRunEntity } from './eval-run.entity.js';
import { EvalRuns } from './eval-runs.repository.js';
import { EvalTargets } from './eval-subject.js';
import { EvalService, InstalledSkills, RecordEval } from './eval.service.js';
import { EvalsController } from './evals.controller.js';

/** @level 8 */
@Module({
  imports: [
    TypeOrmModule.forFeature([EvalRunEntity]),
    CaposModule,
    DirectivesModule,
    StandingOrdersModule,
    WorkspacesModule,
  ],
  controllers: [EvalsController],
  providers: [EvalRuns, InstalledSkills, RecordEval, EvalService, EvalTargets],
  exports: [InstalledSkills, RecordEval],
})
export class EvalsModule {}
