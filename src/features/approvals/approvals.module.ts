import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Figures } from '../../platform/observability/figures.js';
import { CaposModule } from '../capos/capos.module.js';
import { EventsModule } from '../events/events.module.js';
import { GuardianModule } from '../guardian/guardian.module.js';
import { SignalsModule } from '../signals/signals.module.js';
import { ApprovalEntity } from './approval.entity.js';
import { ApprovalPageController } from './approval-page.controller.js';
import { ApprovalSubjects } from './approval-subjects.js';
import { ApprovalsController } from './approvals.controller.js';
import { Approvals } from './approvals.repository.js';
import { AwaitApproval } from './await-approval.js';
import { DecideApproval } from './decide-approval.js';
import { DecidedApprovals } from './decided-approvals.reader.js';
import { EditApproval } from './edit-approval.js';
import { ExpireApproval } from './expire-approval.js';
import { HoldupsReader } from './holdups.reader.js';
import { RequestApproval } from './request-approval.js';

/** @level 6 */
@Module({
  imports: [
    TypeOrmModule.forFeature([ApprovalEntity]),
    CaposModule,
    EventsModule,
    GuardianModule,
    SignalsModule,
  ],
  controllers: [ApprovalsController, ApprovalPageController],
  providers: [
    Approvals,
    ApprovalSubjects,
    AwaitApproval,
    DecidedApprovals,
    DecideApproval,
    EditApproval,
    ExpireApproval,
    HoldupsReader,
    RequestApproval,
  ],
  exports: [Approvals, ApprovalSubjects, DecidedApprovals, RequestApproval],
})
export class ApprovalsModule {
  constructor(figures: Figures) {
    figures.declare({
      name: 'consigliere_approvals_pending',
      help: 'Approvals that wait: for the draft (drafting), or for a person (ready)',
      label: 'state',
      statement: () => ({
        text: `select s as label, coalesce(sum(t.n), 0) as value
          from (values ('ready', 'ready'), ('drafting', 'pending')) state (s, status)
          left join app.tally_of_all('approvals') t on split_part(t.key, ' ', 1) = status group by s`,
      }),
    });
  }
}
