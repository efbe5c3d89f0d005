import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound } from '../../platform/kernel/errors.js';
import type { Page } from '../../platform/kernel/pages.dto.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { reportIdOf } from '../verifier/index.js';
import { type Audience, Audiences, teamOf } from '../workspaces/index.js';
import { FamilyReports } from './family-report.reader.js';
import type { ReportCommentEntity } from './report.entity.js';
import type { CommentBody, CommentsQuery, CommentView } from './report-comments.dto.js';
import { Reports } from './reports.repository.js';
import { dateOfReport, familyReportIdOf } from './report.js';
import { ReportService } from './report.service.js';

/** A report that the caller may read. */
interface ReadableReport {
  reportId: string;
  date: string;
  audience: Audience;
}

/** What people say about reports. */
@Injectable()
export class ReportCommentService {
  constructor(
    private readonly receipts: Receipts,
    private readonly clock: Clock,
    private readonly audiences: Audiences,
    private readonly familyReports: FamilyReports,
    private readonly reports: Reports,
    private readonly dailyReports: ReportService,
  ) {}

  /**
   * Adds a comment to a report, for those who may read it.
   * @throws NotFound for a report that the caller may not read; Forbidden for who may only read
   */
  async add(caller: Caller, { reportId, sectionKey, body }: CommentBody): Promise<CommentView> {
    const { date, audience } = await this.readable(caller, reportId);
    const teamId = teamOf(audience);
    requireRole(caller, teamId, 'operator');
    const actor = actorOf(caller);
    const commentId = newId('cmt');
    const receiptId = this.receipts.append({
      actor,
      action: 'report.commented',
      entity: { type: 'report', id: reportId },
      teamId,
      summary: `${actor.name} commented on the report of ${date}.`,
      details: { commentId, sectionKey: sectionKey ?? null },
    });
    const comment: ReportCommentEntity = {
      workspaceId: caller.workspaceId,
      commentId,
      reportId,
      teamId,
      ofAll: audience === 'all',
      sectionKey: sectionKey ?? null,
      body,
      createdBy: actor,
      createdAt: this.clock.now(),
      receiptId,
    };
    this.reports.addComment(comment);
    const { workspaceId: _workspaceId, ofAll: _ofAll, ...view } = comment;
    return view;
  }

  /**
   * What was said about one report, or about all that the caller may read; newest first.
   * @throws NotFound for a report that the caller may not read
   */
  async list(caller: Caller, query: CommentsQuery): Promise<Page<CommentView>> {
    if (query.reportId !== undefined) await this.readable(caller, query.reportId);
    const daily = (await this.audiences.seesWhole(caller))
      ? await this.dailyReports.latestIds(caller)
      : undefined;
    return this.reports.listComments(scopeOf(caller), query, daily);
  }

  /**
   * A report by its id: a family report, whose id is made from what it shows, or a Daily Report, which has a row once it is made.
   * @throws NotFound for what is no report, or for one that the caller may not read
   */
  private async readable(caller: Caller, reportId: string): Promise<ReadableReport> {
    const date = dateOfReport(reportId);
    if (date === undefined) return this.daily(caller, reportId);
    const { workspaceId } = caller;
    const audience = (await this.audiences.allOf(caller)).find(
      (one) => familyReportIdOf(workspaceId, date, one) === reportId,
    );
    if (audience === undefined) return this.daily(caller, reportId);
    await this.familyReports.day(scopeOf(caller), date);
    return { reportId, date, audience };
  }

  /**
   * A Daily Report, which is of the whole workspace. Its day has the id already before the report is made, and is shown with it.
   * @throws NotFound
   */
  private async daily(caller: Caller, reportId: string): Promise<ReadableReport> {
    const { workspaceId } = caller;
    const scope = { workspaceId, teamIds: 'all' } as const;
    // A caller who may not read it gets the same answer as for a missing one.
    if (!(await this.audiences.seesWhole(caller))) throw new NotFound();
    const report = await this.reports.find(scope, reportId);
    if (report) return { reportId, date: report.date, audience: 'all' };
    const date = dateOfReport(reportId);
    if (date === undefined || reportIdOf(workspaceId, date) !== reportId) throw new NotFound();
    await this.dailyReports.assertDay(scope, date);
    return { reportId, date, audience: 'all' };
  }
}
