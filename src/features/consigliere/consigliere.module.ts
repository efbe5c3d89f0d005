import { Module } from '@nestjs/common';
import { DirectivesModule } from '../directives/directives.module.js';
import { GuardianModule } from '../guardian/guardian.module.js';
import { StandingOrdersModule } from '../standing-orders/standing-orders.module.js';
import { RouteDirective } from './route-directive.js';

/** @level 8 */
@Module({
  imports: [DirectivesModule, GuardianModule, StandingOrdersModule],
  providers: [RouteDirective],
})
export class ConsigliereModule {}
