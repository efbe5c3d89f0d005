import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Figures } from '../../platform/observability/figures.js';
import { EventsModule } from '../events/index.js';
import { RecordsModule } from '../records/index.js';
import { ActivationChecks, StandingOrdersModule } from '../standing-orders/index.js';
import { AutonomyMode, WorkspacesModule } from '../workspaces/index.js';
import { CheckpointEntity, GuardianEntity, RevertEntity, RevertStepEntity } from './guardian.entity.js';
import { CheckpointsController, GuardianController, RevertsController } from './guardian.controller.js';
import { Checkpoints } from './checkpoints.repository.js';
import { CheckpointService } from './checkpoint.service.js';
import { CompensateWork } from './compensate-work.js';
import { GUARDIAN } from './guardian.js';
import { GuardianService } from './guardian.service.js';
import { Guardians, killedStatement } from './guardians.repository.js';
import { HaltableWork } from './halting.js';
import { PolicyFacts } from './policy-facts.js';
import { PolicyGate, PolicyPreview } from './policy-gate.js';
import { RestoreCheckpoint } from './restore-checkpoint.js';
import { ResumeWork, RevertService } from './revert.service.js';
import { RevertProgress } from './revert-progress.js';
import { Reverts } from './reverts.repository.js';
import { UndoableWork } from './revert.js';
import { OrderUses } from './order-uses.js';
import { ThrottleRoom } from './throttle-room.js';

/** @level 4 */
@Module({
  imports: [
    TypeOrmModule.forFeature([GuardianEntity, CheckpointEntity, RevertEntity, RevertStepEntity]),
    EventsModule,
    WorkspacesModule,
    StandingOrdersModule,
    RecordsModule,
  ],
  controllers: [GuardianController, CheckpointsController, RevertsController],
  providers: [
    Guardians,
    HaltableWork,
    GuardianService,
    PolicyFacts,
    PolicyGate,
    PolicyPreview,
    OrderUses,
    ThrottleRoom,
    Checkpoints,
    CheckpointService,
    Reverts,
    UndoableWork,
    RevertService,
    ResumeWork,
    RestoreCheckpoint,
    CompensateWork,
    RevertProgress,
  ],
  exports: [
    Guardians,
    GuardianService,
    HaltableWork,
    CheckpointService,
    PolicyGate,
    PolicyPreview,
    Reverts,
    RevertProgress,
    UndoableWork,
  ],
})
export class GuardianModule {
  constructor(
    autonomyMode: AutonomyMode,
    guardians: Guardians,
    figures: Figures,
    activationChecks: ActivationChecks,
    checkpoints: CheckpointService,
  ) {
    // By itself, so that nobody outside the team of the order reads who activates what there.
    activationChecks.registerBefore(() => checkpoints.take(GUARDIAN, { before: 'activation' }));
    autonomyMode.register(async (scope) => (await guardians.read(scope)).mode);
    figures.declare({
      name: 'consigliere_workspaces_killed',
      help: 'Workspaces in which the kill switch is on',
      statement: killedStatement,
    });
  }
}
