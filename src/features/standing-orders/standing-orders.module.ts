import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { StandingOrderEntity, StandingOrderUseEntity } from './standing-order.entity.js';
import { StandingOrders } from './standing-orders.repository.js';

@Module({
  imports: [TypeOrmModule.forFeature([StandingOrderEntity, StandingOrderUseEntity])],
  providers: [StandingOrders],
  exports: [StandingOrders],
})
export class StandingOrdersModule {}
