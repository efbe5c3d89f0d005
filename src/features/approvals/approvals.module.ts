import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Figures } from '../../platform/observability/figures.js';
import { CaposModule } from '../capos/index.js';
import { EscalationsModule } from '../escalations/index.js';
import { EventsModule } from '../events/index.js';
import { GuardianModule } from '../guardian/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { ApprovalBackgroundReader, HoldupsReader } from './approval-background.reader.js';
import { ApprovalEntity } from './approval.entity.js';
import { ApprovalSubjects } from './approval-subjects.js';
import { ApprovalsController } from './approvals.controller.js';
import { Approvals, waitingStatement } from './approvals.repository.js';
import { AwaitChange } from './waiting.js';
import { CurrentApprovals } from './current-approvals.repository.js';
import { DecideApproval } from './decide-approval.js';
import { EditApproval } from './edit-approval.js';
import { EscalateApproval, ExpireApproval } from './approval-deadlines.js';
import { EscalatedApprovals } from './escalated-approvals.js';
import { MissingApprovers } from './missing-approvers.js';
import { QuestionsController } from './questions.controller.js';
import { Questions } from './questions.repository.js';
import { QuestionsService } from './questions.service.js';
import { ReadyApprovals, RequestApproval } from './request-approval.js';

/** @level 6 */
@Module({
  imports: [
    TypeOrmModule.forFeature([ApprovalEntity]),
    CaposModule,
    EscalationsModule,
    EventsModule,
    GuardianModule,
    WorkspacesModule,
  ],
  controllers: [ApprovalsController, QuestionsController],
  providers: [
    Approvals,
    ApprovalBackgroundReader,
    ApprovalSubjects,
    AwaitChange,
    CurrentApprovals,
    DecideApproval,
    EditApproval,
    EscalateApproval,
    EscalatedApprovals,
    ExpireApproval,
    HoldupsReader,
    MissingApprovers,
    Questions,
    QuestionsService,
    ReadyApprovals,
    RequestApproval,
  ],
  exports: [
    Approvals,
    ApprovalSubjects,
    AwaitChange,
    CurrentApprovals,
    DecideApproval,
    EditApproval,
    HoldupsReader,
    Questions,
    ReadyApprovals,
    RequestApproval,
  ],
})
export class ApprovalsModule {
  constructor(figures: Figures) {
    figures.declare({
      name: 'consigliere_approvals_pending',
      help: 'Approvals that wait: for the draft (drafting), or for a person (ready)',
      label: 'state',
      statement: waitingStatement,
    });
  }
}
