import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { type Listing, newestFirst, readPage, where } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { Page } from '../../platform/kernel/pages.dto.js';
import type { CommentsQuery, CommentView } from './report-comments.dto.js';
import { ReportCommentEntity } from './report-comment.entity.js';

const LISTED = columnsOf(ReportCommentEntity, { without: ['workspaceId', 'ofAll'] });

/** That a comment is about a Daily Report: other reports have no row. */
const IS_DAILY = /* sql */ `exists (select 1 from reports r
    where r.workspace_id = report_comments.workspace_id and r.report_id = report_comments.report_id)`;

@Injectable()
export class ReportComments {
  constructor(private readonly db: Db) {}

  /** Adds one in the open transaction. */
  add(comment: ReportCommentEntity): void {
    this.db.insert(ReportCommentEntity, comment);
  }

  /**
   * Those of one report which the caller may read, or of all that they may; newest first.
   * @param daily of a reader of Daily Reports: those that may not have been made yet; the others have rows
   */
  list(
    scope: Scope,
    { reportId, ...paging }: CommentsQuery,
    daily: readonly string[] | undefined,
  ): Promise<Page<CommentView>> {
    const given = where({ workspace_id: scope.workspaceId, report_id: reportId });
    const listing: Listing = {
      name: 'report comments',
      select: LISTED,
      from: 'report_comments',
      ...given,
      // Row-level security leaves out the reports of other teams; it cannot tell a report without a team from that of all.
      ...(scope.teamIds !== 'all' &&
        reportId === undefined &&
        (daily
          ? {
              where: `${given.where} and (not of_all or report_id = any($${given.values.length + 1}) or ${IS_DAILY})`,
              values: [...given.values, daily],
            }
          : { where: `${given.where} and not of_all` })),
      order: newestFirst('comment_id'),
    };
    return readPage(this.db, scope, listing, paging);
  }
}
