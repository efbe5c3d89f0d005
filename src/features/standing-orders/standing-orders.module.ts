import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { ActionReversibility } from './action-reversibility.js';
import { ActivateStandingOrder } from './activate-standing-order.js';
import { ActivationChecks } from './activation-checks.js';
import { ActivationExamination } from './activation-examination.js';
import { ArchiveStandingOrder } from './archive-standing-order.js';
import { CreateStandingOrder } from './create-standing-order.js';
import { DraftStandingOrder } from './draft-standing-order.js';
import { PauseStandingOrder } from './pause-standing-order.js';
import { OrdersInForce } from './orders-in-force.js';
import { Policies } from './policies.repository.js';
import { PolicyDecisionEntity } from './policy-decision.entity.js';
import { PolicyDecisions } from './policy-decisions.repository.js';
import { ProposeStandingOrder } from './propose-standing-order.js';
import { History } from './simulation/history.reader.js';
import { OrderSimulation } from './simulation/order-simulation.js';
import { ReplayHistory } from './simulation/replay-history.js';
import { SimulateStandingOrder } from './simulation/simulate-standing-order.js';
import { SimulationEntity } from './simulation/simulation.entity.js';
import { Simulations } from './simulation/simulations.repository.js';
import {
  StandingOrderEntity,
  StandingOrderUseEntity,
  StandingOrderVersionEntity,
} from './standing-order.entity.js';
import { StandingOrdersController } from './standing-orders.controller.js';
import { StandingOrders } from './standing-orders.repository.js';
import { SurroundingsOfOrder } from './surroundings-of-order.reader.js';

/** @level 3 */
@Module({
  imports: [
    TypeOrmModule.forFeature([
      StandingOrderEntity,
      StandingOrderVersionEntity,
      StandingOrderUseEntity,
      PolicyDecisionEntity,
      SimulationEntity,
    ]),
    WorkspacesModule,
  ],
  controllers: [StandingOrdersController],
  providers: [
    StandingOrders,
    OrdersInForce,
    Policies,
    PolicyDecisions,
    SurroundingsOfOrder,
    ActionReversibility,
    CreateStandingOrder,
    ActivateStandingOrder,
    PauseStandingOrder,
    ArchiveStandingOrder,
    DraftStandingOrder,
    ProposeStandingOrder,
    ActivationChecks,
    ActivationExamination,
    History,
    ReplayHistory,
    Simulations,
    OrderSimulation,
    SimulateStandingOrder,
  ],
  exports: [
    StandingOrders,
    SurroundingsOfOrder,
    OrdersInForce,
    Policies,
    PolicyDecisions,
    ActionReversibility,
    DraftStandingOrder,
    ProposeStandingOrder,
    ActivationChecks,
    ActivationExamination,
    History,
    ReplayHistory,
  ],
})
export class StandingOrdersModule {}
