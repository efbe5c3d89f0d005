import { Module } from '@nestjs/common';
import { CaposModule } from '../capos/capos.module.js';
import { DirectivesModule } from '../directives/directives.module.js';
import { GuardianModule } from '../guardian/guardian.module.js';
import { StandingOrdersModule } from '../standing-orders/standing-orders.module.js';
import { RouteDirective } from './route-directive.js';
import { Router } from './router.js';

/** @level 8 */
@Module({
  imports: [CaposModule, DirectivesModule, GuardianModule, StandingOrdersModule],
  providers: [RouteDirective, Router],
})
export class ConsigliereModule {}
