import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CaposModule } from '../capos/index.js';
import { EventsModule } from '../events/index.js';
import { GuardianModule } from '../guardian/index.js';
import { MailModule } from '../mail/index.js';
import { NotificationsModule } from '../notifications/index.js';
import { RecordsModule } from '../records/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { AddCustomSection } from './add-custom-section.js';
import { AnnounceReport } from './announce-report.js';
import { ChangeReportConfig } from './change-report-config.js';
import { CommentOnReport } from './comment-on-report.js';
import { CustomSectionEntity } from './custom-section.entity.js';
import { CustomSections } from './custom-sections.repository.js';
import { DeleteCustomSection } from './delete-custom-section.js';
import { DeliverReport } from './deliver-report.js';
import { FamilyReports } from './family-report.reader.js';
import { FamilyController } from './family.controller.js';
import { LocalDays } from './local-days.js';
import { MakeReport } from './make-report.js';
import { ReadReport } from './read-report.js';
import { ReadableReports } from './readable-reports.js';
import { ReportCommentEntity } from './report-comment.entity.js';
import { ReportComments } from './report-comments.repository.js';
import { ReportConfigController } from './report-config.controller.js';
import { ReportConfigEntity } from './report-config.entity.js';
import { ReportConfigs } from './report-configs.repository.js';
import { ReportDeliveries } from './report-deliveries.js';
import { ReportEntity } from './report.entity.js';
import { ReportFactsReader } from './report-facts.reader.js';
import { ReportMailEntity } from './report-mail.entity.js';
import { ReportMails } from './report-mails.repository.js';
import { ReportsController } from './reports.controller.js';
import { Reports } from './reports.repository.js';
import { RequireWholeWorkspace } from './require-whole-workspace.js';
import { ResendReport } from './resend-report.js';
import { ScheduledReports } from './scheduled-reports.js';
import { SectionWriter } from './section-writer.js';
import { SendReportMail } from './send-report-mail.js';
import { StoreReport } from './store-report.js';
import { WriteSections } from './write-sections.js';

/** @level 10 */
@Module({
  imports: [
    TypeOrmModule.forFeature([
      ReportConfigEntity,
      ReportEntity,
      ReportMailEntity,
      CustomSectionEntity,
      ReportCommentEntity,
    ]),
    CaposModule,
    EventsModule,
    GuardianModule,
    MailModule,
    NotificationsModule,
    RecordsModule,
    WorkspacesModule,
  ],
  controllers: [FamilyController, ReportConfigController, ReportsController],
  providers: [
    AddCustomSection,
    AnnounceReport,
    ChangeReportConfig,
    CommentOnReport,
    CustomSections,
    DeleteCustomSection,
    DeliverReport,
    FamilyReports,
    LocalDays,
    MakeReport,
    ReadReport,
    ReadableReports,
    ReportComments,
    ReportConfigs,
    ReportDeliveries,
    ReportFactsReader,
    ReportMails,
    Reports,
    RequireWholeWorkspace,
    ResendReport,
    ScheduledReports,
    SectionWriter,
    SendReportMail,
    StoreReport,
    WriteSections,
  ],
  exports: [ReadReport, Reports],
})
export class ReportsModule {}
