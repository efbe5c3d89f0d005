import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { ActionReversibility } from './action-reversibility.js';
import { ActivateStandingOrder } from './activate-standing-order.js';
import { ArchiveStandingOrder } from './archive-standing-order.js';
import { CreateStandingOrder } from './create-standing-order.js';
import { PauseStandingOrder } from './pause-standing-order.js';
import { StandingOrderEntity, StandingOrderUseEntity } from './standing-order.entity.js';
import { StandingOrdersController } from './standing-orders.controller.js';
import { StandingOrders } from './standing-orders.repository.js';

/** @level 3 */
@Module({
  imports: [TypeOrmModule.forFeature([StandingOrderEntity, StandingOrderUseEntity]), WorkspacesModule],
  controllers: [StandingOrdersController],
  providers: [
    StandingOrders,
    ActionReversibility,
    CreateStandingOrder,
    ActivateStandingOrder,
    PauseStandingOrder,
    ArchiveStandingOrder,
  ],
  exports: [StandingOrders, ActionReversibility],
})
export class StandingOrdersModule {}
