import { Module } from '@nestjs/common';
import { CaposModule } from '../capos/index.js';
import { DirectivesModule } from '../directives/index.js';
import { GuardianModule } from '../guardian/index.js';
import { StandingOrdersModule } from '../standing-orders/index.js';
import { ToolsModule } from '../tools/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { PreflightController } from './preflight.controller.js';
import { PreflightDirective, PreviewPackets } from './preflight-directive.js';
import { PreflightService, PreflightTool } from './preflight.service.js';

/** @level 9 */
@Module({
  imports: [
    CaposModule,
    DirectivesModule,
    GuardianModule,
    StandingOrdersModule,
    ToolsModule,
    WorkspacesModule,
  ],
  controllers: [PreflightController],
  providers: [PreflightService, PreflightDirective, PreflightTool, PreviewPackets],
})
export class PreflightModule {}
