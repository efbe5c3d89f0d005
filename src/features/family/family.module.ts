import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ReportsModule } from '../reports/reports.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { CommentOnReport } from './comment-on-report.js';
import { FamilyController } from './family.controller.js';
import { FamilyReports } from './family-report.reader.js';
import { LocalDays } from './local-days.js';
import { ReadableReports } from './readable-reports.js';
import { ReportCommentEntity } from './report-comment.entity.js';
import { ReportComments } from './report-comments.repository.js';

/** @level 11 */
@Module({
  imports: [TypeOrmModule.forFeature([ReportCommentEntity]), WorkspacesModule, ReportsModule],
  controllers: [FamilyController],
  providers: [CommentOnReport, FamilyReports, LocalDays, ReadableReports, ReportComments],
})
export class FamilyModule {}
