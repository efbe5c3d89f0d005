import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { teamOf } from '../workspaces/index.js';
import { ReadableReports } from './readable-reports.js';
import type { CommentBody, CommentView } from './report-comments.dto.js';
import type { ReportCommentEntity } from './report-comment.entity.js';
import { ReportComments } from './report-comments.repository.js';

/** Adds a comment to a report, for those who may read it. */
@Injectable()
export class CommentOnReport {
  constructor(
    private readonly readableReports: ReadableReports,
    private readonly comments: ReportComments,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** @throws NotFound for a report that the caller may not read; Forbidden for who may only read */
  async execute(caller: Caller, { reportId, sectionKey, body }: CommentBody): Promise<CommentView> {
    const { date, audience } = await this.readableReports.get(caller, reportId);
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
    this.comments.add(comment);
    const { workspaceId: _workspaceId, ofAll: _ofAll, ...view } = comment;
    return view;
  }
}
