import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ToolsModule } from '../tools/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { ActionReversibility, OrderTools } from './order-tools.js';
import { StandingOrderService } from './standing-orders.service.js';
import { ActivationChecks, ActivationExamination } from './activation-examination.js';
import { StandingOrderVersions } from './new-order-version.js';
import { StandingOrderDrafts, ProposeStandingOrder, WithdrawProposal } from './draft-standing-order.js';
import { OrdersInForce } from './orders-in-force.repository.js';
import { Policies, PolicyDecisions } from './policy-decisions.repository.js';
import {
  PolicyDecisionEntity,
  StandingOrderEntity,
  StandingOrderUseEntity,
  StandingOrderVersionEntity,
} from './standing-order.entity.js';
import { History } from './simulation/history.reader.js';
import { OrderSimulation, ReplayHistory } from './simulation/order-simulation.js';
import { SimulationEntity } from './simulation/simulation.entity.js';
import { Simulations } from './simulation/simulations.repository.js';
import { StandingOrderRules } from './standing-order-rules.js';
import { StandingOrderVersionsController, StandingOrdersController } from './standing-orders.controller.js';
import { StandingOrderUses } from './standing-order-uses.repository.js';
import { StandingOrders } from './standing-orders.repository.js';
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
    StandingOrderService,
    WithdrawProposal,
    OrdersInForce,
    Policies,
    PolicyDecisions,
    SurroundingsOfOrder,
    ActionReversibility,
    OrderTools,
    StandingOrderRules,
    StandingOrderVersions,
    StandingOrderDrafts,
    ProposeStandingOrder,
    ActivationChecks,
    ActivationExamination,
    History,
    ReplayHistory,
    Simulations,
    OrderSimulation,
  ],
  exports: [
    StandingOrders,
    StandingOrderUses,
    RestoreObjections,
    RestoreOrders,
    StandingOrderService,
    WithdrawProposal,
    SurroundingsOfOrder,
    OrdersInForce,
    OrderTools,
    PolicyDecisions,
    ActionReversibility,
    StandingOrderDrafts,
    ProposeStandingOrder,
    ActivationChecks,
    ActivationExamination,
    History,
    ReplayHistory,
  ],
})
export class StandingOrdersModule {}
