/** The condition of a statement over another feature's table that its row is about a Daily Report: other reports have no row. */
export function isDailyReport(table: string): string {
  return /* sql */ `exists (select 1 from reports r
    where r.workspace_id = ${table}.workspace_id and r.report_id = ${table}.report_id)`;
}
