import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ToolsModule } from '../tools/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { ActionReversibility } from './action-reversibility.js';
import {
  ActivateStandingOrder,
  ArchiveStandingOrder,
  CreateStandingOrder,
  PauseStandingOrder,
  ShadowStandingOrder,
} from './standing-orders.service.js';
import { ActivationChecks, ActivationExamination } from './activation-examination.js';
import { ArchiveOrders } from './archive-orders.js';
import { NewOrderVersion, ReviseStandingOrder, RollBackStandingOrder } from './new-order-version.js';
import {
  DraftStandingOrder,
  ProposeStandingOrder,
  ReplaceDraft,
  WithdrawProposal,
  WrittenOrders,
} from './draft-standing-order.js';
import { MoveOrders } from './move-orders.js';
import { OrdersInForce } from './orders-in-force.repository.js';
import { Policies, PolicyDecisions } from './policy-decisions.repository.js';
import { PolicyDecisionEntity } from './policy-decision.entity.js';
import { History } from './simulation/history.reader.js';
import { OrderSimulation, SimulateStandingOrder } from './simulation/order-simulation.js';
import { ReplayHistory } from './simulation/replay-history.js';
import { SimulationEntity } from './simulation/simulation.entity.js';
import { Simulations } from './simulation/simulations.repository.js';
import {
  StandingOrderEntity,
  StandingOrderUseEntity,
  StandingOrderVersionEntity,
} from './standing-order.entity.js';
import { OrderTools } from './order-tools.js';
import { StandingOrderRules } from './standing-order-rules.js';
import { StandingOrderVersionsController, StandingOrdersController } from './standing-orders.controller.js';
import { StandingOrderUses } from './standing-order-uses.repository.js';
import { StandingOrders } from './standing-orders.repository.js';
import { ThrottledWork } from './throttled-work.js';
import { RestoreObjections, RestoreOrders } from './restore-orders.js';
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
    ToolsModule,
    WorkspacesModule,
  ],
  controllers: [StandingOrdersController, StandingOrderVersionsController],
  providers: [
    StandingOrders,
    StandingOrderUses,
    RestoreObjections,
    RestoreOrders,
    MoveOrders,
    WithdrawProposal,
    OrdersInForce,
    Policies,
    PolicyDecisions,
    SurroundingsOfOrder,
    ActionReversibility,
    OrderTools,
    StandingOrderRules,
    NewOrderVersion,
    ThrottledWork,
    CreateStandingOrder,
    ReviseStandingOrder,
    RollBackStandingOrder,
    ActivateStandingOrder,
    ShadowStandingOrder,
    PauseStandingOrder,
    ArchiveStandingOrder,
    ArchiveOrders,
    WrittenOrders,
    ReplaceDraft,
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
    StandingOrderUses,
    RestoreObjections,
    RestoreOrders,
    MoveOrders,
    WithdrawProposal,
    SurroundingsOfOrder,
    OrdersInForce,
    OrderTools,
    PolicyDecisions,
    ActionReversibility,
    DraftStandingOrder,
    ReplaceDraft,
    ArchiveOrders,
    WrittenOrders,
    ProposeStandingOrder,
    ActivationChecks,
    ActivationExamination,
    History,
    ReplayHistory,
  ],
})
export class StandingOrdersModule {}
