import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { type Listing, newestFirst, readPage, where } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { isId, newId } from '../../platform/kernel/ids.js';
import type { Page, PageQuery } from '../../platform/kernel/pages.dto.js';
import { ReportCommentEntity, ReportEntity, ReportMailEntity } from './report.entity.js';
import type { CommentsQuery, CommentView } from './report-comments.dto.js';

/** A report as the history lists it. */
export type ListedReport = Omit<ReportEntity, 'sections' | 'customSections'>;

/** A report beside the one that is made. */
export type Neighbour = Pick<ReportEntity, 'date' | 'fromSeq' | 'toSeq'>;

const LISTED = columnsOf(ReportEntity, { without: ['sections', 'customSections'] });

type Recipient = Pick<ReportMailEntity, 'memberId' | 'address'>;

type OfReport = Pick<ReportEntity, 'workspaceId' | 'reportId'>;

/** The report says what became of its mails: what is still to come first, then what failed. */
const SUM_UP = /* sql */ `
update reports r set delivery_channel = 'email', delivery_status = s.status,
  delivery_at = case when s.status in ('waiting', 'sending') then null else s.at end
from (
  select max(at) as at, case
    when bool_or(status = 'sending') then 'sending' when bool_or(status = 'waiting') then 'waiting'
    when bool_or(status = 'failed') then 'failed' when bool_or(status = 'sent') then 'sent' else 'none' end as status
  from report_mails where workspace_id = $1 and report_id = $2 having count(*) > 0) s
where r.workspace_id = $1 and r.report_id = $2`;

const LISTED_COMMENT = columnsOf(ReportCommentEntity, { without: ['workspaceId', 'ofAll'] });

/** That a comment is about a Daily Report: other reports have no row. */
const IS_DAILY = /* sql */ `exists (select 1 from reports r
    where r.workspace_id = report_comments.workspace_id and r.report_id = report_comments.report_id)`;

/** Reports, their mails, and what people say about them. */
@Injectable()
export class Reports {
  constructor(private readonly db: Db) {}

  /** Adds the report of a day to the open transaction; a second one of the day is refused as it is written. */
  add(report: ReportEntity): void {
    this.db.insert(ReportEntity, report);
  }

  ofDay(scope: Scope, date: string): Promise<ReportEntity | undefined> {
    return this.db.findOne(scope, ReportEntity, { workspaceId: scope.workspaceId, date });
  }

  find(scope: Scope, reportId: string): Promise<ReportEntity | undefined> {
    return this.db.findOne(scope, ReportEntity, { workspaceId: scope.workspaceId, reportId });
  }

  /** The reports made of the days around this one, the nearest before and after it. */
  async around(scope: Scope, date: string): Promise<{ before?: Neighbour; after?: Neighbour }> {
    const values = [scope.workspaceId, date];
    const [[before], [after]] = (await this.db.readAll(scope, [
      {
        text: `select date, from_seq, to_seq from reports where workspace_id = $1 and date < $2 order by date desc limit 1`,
        values,
      },
      {
        text: `select date, from_seq, to_seq from reports where workspace_id = $1 and date > $2 order by date limit 1`,
        values,
      },
    ])) as [[Neighbour?], [Neighbour?]];
    return { ...(before && { before }), ...(after && { after }) };
  }

  lock(workspaceId: string, reportId: string): Promise<ReportEntity | undefined> {
    return this.db.lockOne(ReportEntity, { workspaceId, reportId }, 'for no key update');
  }

  update(
    { workspaceId, reportId }: Pick<ReportEntity, 'workspaceId' | 'reportId'>,
    change: Partial<ReportEntity>,
  ): void {
    this.db.update(ReportEntity, { workspaceId, reportId }, change);
  }

  /** @throws NotFound */
  async lockExisting(workspaceId: string, reportId: string): Promise<ReportEntity> {
    const report = isId('rpt', reportId) ? await this.lock(workspaceId, reportId) : undefined;
    if (!report) throw new NotFound();
    return report;
  }

  /** The reports that were made, the latest day first. */
  list(scope: Scope, paging: PageQuery): Promise<Page<ListedReport>> {
    const listing = {
      name: 'reports',
      select: LISTED,
      from: 'reports',
      ...where({ workspace_id: scope.workspaceId }),
      order: [{ column: 'date', kind: 'text' as const, descending: true }],
    };
    return readPage<ListedReport>(this.db, scope, listing, paging);
  }

  /** Adds a mail for each recipient that has none of this report yet; answers the ids of the new ones. */
  async addMails({ workspaceId, reportId }: OfReport, recipients: readonly Recipient[]): Promise<string[]> {
    const rows = await this.db.query<{ mailId: string }>(
      `insert into report_mails (workspace_id, report_id, mail_id, member_id, address, status)
       select $1, $2, mail_id, member_id, address, 'waiting'
       from unnest($3::text[], $4::text[], $5::text[]) as one (mail_id, member_id, address)
       on conflict do nothing returning mail_id`,
      [
        workspaceId,
        reportId,
        recipients.map(() => newId('msg')),
        recipients.map(({ memberId }) => memberId),
        recipients.map(({ address }) => address),
      ],
    );
    this.sumUpMails({ workspaceId, reportId });
    return rows.map(({ mailId }) => mailId);
  }

  /** Mails that failed wait again, each as another mail; answers their new ids. */
  async addMailsAgain({ workspaceId, reportId }: OfReport): Promise<string[]> {
    const failed = await this.db.query<Recipient>(
      `delete from report_mails where workspace_id = $1 and report_id = $2 and status = 'failed' returning member_id, address`,
      [workspaceId, reportId],
    );
    return failed.length === 0 ? [] : this.addMails({ workspaceId, reportId }, failed);
  }

  removeMails({ workspaceId, reportId }: OfReport): void {
    this.db.write('delete from report_mails where workspace_id = $1 and report_id = $2', [
      workspaceId,
      reportId,
    ]);
  }

  lockMail(workspaceId: string, mailId: string): Promise<ReportMailEntity | undefined> {
    return this.db.lockOne(ReportMailEntity, { workspaceId, mailId }, 'for no key update');
  }

  updateMail(mail: ReportMailEntity, change: Partial<ReportMailEntity>): void {
    this.db.update(ReportMailEntity, { workspaceId: mail.workspaceId, mailId: mail.mailId }, change);
    this.sumUpMails(mail);
  }

  /** The mails of several reports, members in the sequence of their ids. */
  mailsOf(scope: Scope, reportIds: readonly string[]): Promise<ReportMailEntity[]> {
    return this.db.read(
      scope,
      `select ${columnsOf(ReportMailEntity)} from report_mails
       where workspace_id = $1 and report_id = any($2) order by member_id nulls first`,
      [scope.workspaceId, reportIds],
    );
  }

  /** Two mails that end at once each see the other: the second waits for the first before it counts. */
  private sumUpMails({ workspaceId, reportId }: OfReport): void {
    this.db.write('select from reports where workspace_id = $1 and report_id = $2 for no key update', [
      workspaceId,
      reportId,
    ]);
    this.db.write(SUM_UP, [workspaceId, reportId]);
  }

  /** Adds a comment in the open transaction. */
  addComment(comment: ReportCommentEntity): void {
    this.db.insert(ReportCommentEntity, comment);
  }

  /**
   * The comments on one report which the caller may read, or on all that they may; newest first.
   * @param daily of a reader of Daily Reports: those that may not have been made yet; the others have rows
   */
  listComments(
    scope: Scope,
    { reportId, ...paging }: CommentsQuery,
    daily: readonly string[] | undefined,
  ): Promise<Page<CommentView>> {
    const given = where({ workspace_id: scope.workspaceId, report_id: reportId });
    const listing: Listing = {
      name: 'report comments',
      select: LISTED_COMMENT,
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
