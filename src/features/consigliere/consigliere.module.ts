import { Module } from '@nestjs/common';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { CaposModule } from '../capos/capos.module.js';
import { DirectivesModule } from '../directives/directives.module.js';
import { GuardianModule } from '../guardian/guardian.module.js';
import { StandingOrdersModule } from '../standing-orders/standing-orders.module.js';
import { RouteDirective } from './route-directive.js';
import { Router } from './router.js';

/** @level 8 */
@Module({
  imports: [ApprovalsModule, CaposModule, DirectivesModule, GuardianModule, StandingOrdersModule],
  providers: [RouteDirective, Router],
})
export class ConsigliereModule {}
