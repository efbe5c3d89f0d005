import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { newId } from '../../platform/kernel/ids.js';
import { ReportMailEntity } from './report-mail.entity.js';
import type { ReportEntity } from './report.entity.js';

export type Recipient = Pick<ReportMailEntity, 'memberId' | 'address'>;
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

@Injectable()
export class ReportMails {
  constructor(private readonly db: Db) {}

  /** One for each recipient that has none of this report yet; answers the ids of the new ones. */
  async add({ workspaceId, reportId }: OfReport, recipients: readonly Recipient[]): Promise<string[]> {
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
    this.sumUp({ workspaceId, reportId });
    return rows.map(({ mailId }) => mailId);
  }

  /** Those that failed wait again, each as another mail; answers their new ids. */
  async addAgain({ workspaceId, reportId }: OfReport): Promise<string[]> {
    const failed = await this.db.query<Recipient>(
      `delete from report_mails where workspace_id = $1 and report_id = $2 and status = 'failed' returning member_id, address`,
      [workspaceId, reportId],
    );
    return failed.length === 0 ? [] : this.add({ workspaceId, reportId }, failed);
  }

  /** In the open transaction. */
  removeOf({ workspaceId, reportId }: OfReport): void {
    this.db.write('delete from report_mails where workspace_id = $1 and report_id = $2', [
      workspaceId,
      reportId,
    ]);
  }

  lock(workspaceId: string, mailId: string): Promise<ReportMailEntity | undefined> {
    return this.db.lockOne(ReportMailEntity, { workspaceId, mailId }, 'for no key update');
  }

  update(mail: ReportMailEntity, change: Partial<ReportMailEntity>): void {
    this.db.update(ReportMailEntity, { workspaceId: mail.workspaceId, mailId: mail.mailId }, change);
    this.sumUp(mail);
  }

  /** Those of several reports, members in the sequence of their ids. */
  ofAll(scope: Scope, reportIds: readonly string[]): Promise<ReportMailEntity[]> {
    return this.db.read(
      scope,
      `select ${columnsOf(ReportMailEntity)} from report_mails
       where workspace_id = $1 and report_id = any($2) order by member_id nulls first`,
      [scope.workspaceId, reportIds],
    );
  }

  /** Two mails that end at once each see the other: the second waits for the first before it counts. */
  private sumUp({ workspaceId, reportId }: OfReport): void {
    this.db.write('select from reports where workspace_id = $1 and report_id = $2 for no key update', [
      workspaceId,
      reportId,
    ]);
    this.db.write(SUM_UP, [workspaceId, reportId]);
  }
}
