import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CaposModule } from '../capos/capos.module.js';
import { EventsModule } from '../events/events.module.js';
import { GuardianModule } from '../guardian/guardian.module.js';
import { SignalsModule } from '../signals/signals.module.js';
import { ApprovalEntity } from './approval.entity.js';
import { ApprovalSubjects } from './approval-subjects.js';
import { ApprovalsController } from './approvals.controller.js';
import { Approvals } from './approvals.repository.js';
import { AwaitApproval } from './await-approval.js';
import { DecideApproval } from './decide-approval.js';
import { ExpireApproval } from './expire-approval.js';
import { RequestApproval } from './request-approval.js';

/** @level 6 */
@Module({
  imports: [TypeOrmModule.forFeature([ApprovalEntity]), CaposModule, EventsModule, GuardianModule, SignalsModule],
  controllers: [ApprovalsController],
  providers: [Approvals, ApprovalSubjects, AwaitApproval, DecideApproval, ExpireApproval, RequestApproval],
  exports: [Approvals, ApprovalSubjects, RequestApproval],
})
export class ApprovalsModule {}
