import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApprovalsModule } from '../approvals/index.js';
import { EscalationsModule } from '../escalations/index.js';
import { GuardianModule } from '../guardian/index.js';
import { MailModule } from '../mail/index.js';
import { RecordsModule } from '../records/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { ApprovalNotices } from './approval-notices.js';
import { ComposeMail } from './compose-mail.js';
import { DecideByLink } from './decide-by-link.js';
import { DecisionLinks } from './decision-links.repository.js';
import { DecisionPageController } from './decision-page.controller.js';
import { EscalationNotices } from './escalation-notices.js';
import { IncidentNotices } from './incident-notices.js';
import { IncidentsReader } from './incidents.reader.js';
import { NoticeSources } from './notice-source.js';
import { NotificationChoiceService } from './notification-choice.service.js';
import { NotificationChoicesController, UnsubscribeController } from './notification-choices.controller.js';
import { NotificationChoices } from './notification-choices.repository.js';
import { DecisionLinkEntity, NotificationChoiceEntity, NotificationEntity } from './notification.entity.js';
import { Notifications } from './notifications.repository.js';
import { PlanNotifications } from './plan-notifications.js';
import { SendNotifications } from './send-notifications.js';

/** @level 7 */
@Module({
  imports: [
    TypeOrmModule.forFeature([NotificationEntity, NotificationChoiceEntity, DecisionLinkEntity]),
    ApprovalsModule,
    EscalationsModule,
    GuardianModule,
    MailModule,
    RecordsModule,
    WorkspacesModule,
  ],
  controllers: [NotificationChoicesController, DecisionPageController, UnsubscribeController],
  providers: [
    NoticeSources,
    ApprovalNotices,
    EscalationNotices,
    IncidentNotices,
    IncidentsReader,
    NotificationChoiceService,
    ComposeMail,
    Notifications,
    NotificationChoices,
    PlanNotifications,
    SendNotifications,
    DecisionLinks,
    DecideByLink,
  ],
  exports: [NotificationChoiceService],
})
export class NotificationsModule {}
