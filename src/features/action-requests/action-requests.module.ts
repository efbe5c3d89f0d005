import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApprovalsModule } from '../approvals/index.js';
import { EscalationsModule } from '../escalations/index.js';
import { EventsModule } from '../events/index.js';
import { GuardianModule } from '../guardian/index.js';
import { ToolsModule } from '../tools/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { ActionApprovals } from './action-approvals.js';
import { ActionDeadlines } from './action-deadlines.js';
import { ActionFindings } from './action-findings.js';
import { ActionOutcomes } from './action-outcomes.js';
import { ActionRequestEntity } from './action-request.entity.js';
import { ActionRequestsController } from './action-requests.controller.js';
import { ActionRequests } from './action-requests.repository.js';
import { ActionRequestsService } from './action-requests.service.js';
import { DecideAction } from './decide-action.js';
import { Permits } from './permits.js';

/** @level 7 */
@Module({
  imports: [
    TypeOrmModule.forFeature([ActionRequestEntity]),
    ApprovalsModule,
    EscalationsModule,
    EventsModule,
    GuardianModule,
    ToolsModule,
    WorkspacesModule,
  ],
  controllers: [ActionRequestsController],
  providers: [
    ActionApprovals,
    ActionDeadlines,
    ActionFindings,
    ActionOutcomes,
    ActionRequests,
    ActionRequestsService,
    DecideAction,
    Permits,
  ],
})
export class ActionRequestsModule {}
