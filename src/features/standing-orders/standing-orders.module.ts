import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { ActionReversibility } from './action-reversibility.js';
import { ActivateStandingOrder } from './activate-standing-order.js';
import { ArchiveStandingOrder } from './archive-standing-order.js';
import { BeforeActivation } from './before-activation.js';
import { CreateStandingOrder } from './create-standing-order.js';
import { PauseStandingOrder } from './pause-standing-order.js';
import { OrdersInForce } from './orders-in-force.js';
import { Policies } from './policies.repository.js';
import { PolicyDecisionEntity } from './policy-decision.entity.js';
import { PolicyDecisions } from './policy-decisions.repository.js';
import {
  StandingOrderEntity,
  StandingOrderUseEntity,
  StandingOrderVersionEntity,
} from './standing-order.entity.js';
import { RestoreOrders } from './restore-orders.js';
import { StandingOrdersController } from './standing-orders.controller.js';
import { StandingOrders } from './standing-orders.repository.js';
import { WithdrawProposal } from './withdraw-proposal.js';

/** @level 3 */
@Module({
  imports: [
    TypeOrmModule.forFeature([
      StandingOrderEntity,
      StandingOrderVersionEntity,
      StandingOrderUseEntity,
      PolicyDecisionEntity,
    ]),
    WorkspacesModule,
  ],
  controllers: [StandingOrdersController],
  providers: [
    StandingOrders,
    BeforeActivation,
    RestoreOrders,
    WithdrawProposal,
    OrdersInForce,
    Policies,
    PolicyDecisions,
    ActionReversibility,
    CreateStandingOrder,
    ActivateStandingOrder,
    PauseStandingOrder,
    ArchiveStandingOrder,
  ],
  exports: [
    StandingOrders,
    BeforeActivation,
    RestoreOrders,
    WithdrawProposal,
    OrdersInForce,
    Policies,
    PolicyDecisions,
    ActionReversibility,
  ],
})
export class StandingOrdersModule {}
