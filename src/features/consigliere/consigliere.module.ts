import { Module } from '@nestjs/common';
import { ApprovalsModule } from '../approvals/index.js';
import { CaposModule } from '../capos/index.js';
import { DirectivesModule } from '../directives/index.js';
import { GuardianModule } from '../guardian/index.js';
import { StandingOrdersModule } from '../standing-orders/index.js';
import { RouteDirective } from './route-directive.js';
import { Router } from './router.js';

/** @level 8 */
@Module({
  imports: [ApprovalsModule, CaposModule, DirectivesModule, GuardianModule, StandingOrdersModule],
  providers: [RouteDirective, Router],
})
export class ConsigliereModule {}
