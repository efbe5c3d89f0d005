import { Module } from '@nestjs/common';
import { CaposModule } from '../capos/capos.module.js';
import { DirectivesModule } from '../directives/directives.module.js';
import { GuardianModule } from '../guardian/guardian.module.js';
import { StandingOrdersModule } from '../standing-orders/standing-orders.module.js';
import { ToolsModule } from '../tools/tools.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { AskPreflight } from './ask-preflight.js';
import { PreflightAction } from './preflight-action.js';
import { PreflightController } from './preflight.controller.js';
import { PreflightDirective } from './preflight-directive.js';
import { PreflightTool } from './preflight-tool.js';
import { PreflightRunner } from './preflight-runner.js';
import { PreviewPackets } from './preview-packets.js';

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
  providers: [
    AskPreflight,
    PreflightAction,
    PreflightDirective,
    PreflightRunner,
    PreflightTool,
    PreviewPackets,
  ],
})
export class PreflightModule {}
