import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CaposModule } from '../capos/index.js';
import { EventsModule } from '../events/index.js';
import { GuardianModule } from '../guardian/index.js';
import { MailModule } from '../mail/index.js';
import { NotificationsModule } from '../notifications/index.js';
import { RecordsModule } from '../records/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import {
  CustomSectionEntity,
  ReportCommentEntity,
  ReportConfigEntity,
  ReportEntity,
  ReportMailEntity,
} from './report.entity.js';
import { DeliverReport, ScheduledReports } from './scheduled-reports.js';
import { FamilyReports } from './family-report.reader.js';
import { FamilyController, ReportConfigController, ReportsController } from './reports.controller.js';
import { MakeReport } from './make-report.js';
import { ReportCommentService } from './report-comment.service.js';
import { ReportConfigService } from './report-config.service.js';
import { ReportConfigs } from './report-configs.repository.js';
import { ReportFactsReader } from './report-facts.reader.js';
import { ReportMailService } from './report-mail.service.js';
import { ReportService } from './report.service.js';
import { Reports } from './reports.repository.js';
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
    ReportConfigService,
    ReportCommentService,
    DeliverReport,
    FamilyReports,
    MakeReport,
    ReportService,
    ReportConfigs,
    ReportMailService,
    ReportFactsReader,
    Reports,
    ScheduledReports,
    WriteSections,
  ],
})
export class ReportsModule {}
