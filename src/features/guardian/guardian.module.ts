import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Figures } from '../../platform/observability/figures.js';
import { EventsModule } from '../events/events.module.js';
import { StandingOrdersModule } from '../standing-orders/standing-orders.module.js';
import { AutonomyMode } from '../workspaces/autonomy-mode.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { ChangeMode } from './change-mode.js';
import { GuardianController } from './guardian.controller.js';
import { GuardianEntity, RevertEntity } from './guardian.entity.js';
import { Guardians } from './guardians.repository.js';
import { HaltableWork } from './halting.js';
import { KillSwitch } from './kill-switch.js';
import { PolicyGate } from './policy-gate.js';
import { PolicyPreview } from './policy-preview.js';
import { RevertKill } from './revert-kill.js';

/** @level 4 */
@Module({
  imports: [
    TypeOrmModule.forFeature([GuardianEntity, RevertEntity]),
    EventsModule,
    WorkspacesModule,
    StandingOrdersModule,
  ],
  controllers: [GuardianController],
  providers: [Guardians, HaltableWork, KillSwitch, RevertKill, ChangeMode, PolicyGate, PolicyPreview],
  exports: [Guardians, HaltableWork, KillSwitch, PolicyGate, PolicyPreview, RevertKill],
})
export class GuardianModule {
  constructor(autonomyMode: AutonomyMode, guardians: Guardians, figures: Figures) {
    autonomyMode.register(async (scope) => (await guardians.read(scope)).mode);
    figures.declare({
      name: 'consigliere_workspaces_killed',
      help: 'Workspaces in which the kill switch is on',
      statement: () => ({ text: 'select app.killed_workspaces() as value' }),
    });
  }
}
