import { newId } from '../../../src/platform/kernel/ids.js';
import type { TestApp } from '../../support/test-app.js';

/** A report as it was made of a day; of one in the past as far as there is room unless it is said. Answers its id. */
export async function leaveReport(
  rows: TestApp['rows'],
  workspaceId: string,
  date?: string,
): Promise<string> {
  const reportId = newId('rpt');
  await rows(
    `insert into reports (workspace_id, report_id, date, zone, currency, format, trigger, headline, sections,
       custom_sections, from_seq, to_seq, head_seq, head_hash, generated_at, delivery_channel, delivery_status)
     select $1, $2, coalesce($3, to_char(date '2020-01-01' + count(*)::int, 'YYYY-MM-DD')), 'UTC', 'USD', 'email', 'on-demand',
       'Nothing happened.', '{}', '[]', 1, 0, 0, '', now(), 'none', 'none'
     from reports where workspace_id = $1`,
    [workspaceId, reportId, date ?? null],
  );
  return reportId;
}

/** The mail of a report to an address. */
export async function leaveReportMail(
  rows: TestApp['rows'],
  workspaceId: string,
  reportId: string,
): Promise<void> {
  await rows(
    `insert into report_mails (workspace_id, mail_id, report_id, address, status, at)
     values ($1, $2, $3, 'boss@acme.example', 'sent', now())`,
    [workspaceId, newId('msg'), reportId],
  );
}

/** A section that a workspace has added to its reports. Answers its id. */
export async function leaveSection(rows: TestApp['rows'], workspaceId: string): Promise<string> {
  const sectionId = newId('sec');
  await rows(
    `insert into custom_report_sections (workspace_id, section_id, title, directive, capo, include_in_report, created_by,
       created_at)
     values ($1, $2, 'Pipeline', 'File a summary of the open offers.', 'capo_revenue', true,
       '{"type": "system", "id": "system", "name": "Consigliere", "via": "schedule"}', now())`,
    [workspaceId, sectionId],
  );
  return sectionId;
}
