import { Client } from '../../support/client.js';
import { eventually, type TestApp, type TestWorkspace } from '../../support/test-app.js';

export const DAY_MS = 86_400_000;

/** A workspace with reports, whose days pass as the test says. */
export class ReportDesk {
  private constructor(
    readonly test: TestApp,
    readonly workspace: TestWorkspace,
  ) {}

  /** A workspace that began some days ago, in a zone; its reports begin with the day before the one that it is. */
  static async open(test: TestApp, { zone = 'UTC', days = 30 } = {}): Promise<ReportDesk> {
    const workspace = await test.createWorkspace();
    const desk = new ReportDesk(test, workspace);
    await test.rows(
      `update workspaces set timezone = $2, created_at = now() - $3 * interval '1 day' where workspace_id = $1`,
      [workspace.workspaceId, zone, days],
    );
    return desk;
  }

  get workspaceId(): string {
    return this.workspace.workspaceId;
  }

  /** From another address each time. */
  get owner(): Client {
    return new Client(this.test.url, this.workspace.owner.token);
  }

  daily(date?: string) {
    return this.owner.get(`/reports/daily${date === undefined ? '' : `?date=${date}`}`);
  }

  /** What is due by the clock of the test is looked at now, and the database's clock is not asked. */
  async look(lastDate?: string): Promise<void> {
    await this.test.rows(
      `update report_configs set due_at = now(), last_date = coalesce($2, last_date) where workspace_id = $1`,
      [this.workspaceId, lastDate ?? null],
    );
  }

  /** The reports that were made, oldest first. */
  reports() {
    return this.test.rows<{ date: string; trigger: string; report_id: string; delivery_status: string }>(
      `select date, trigger, report_id, delivery_status from reports where workspace_id = $1 order by date`,
      [this.workspaceId],
    );
  }

  /** Once the schedule has nothing more to make. */
  async scheduled(count: number) {
    return eventually(
      () => this.reports(),
      (reports) => reports.length >= count,
    );
  }

  actions(like: string) {
    return this.test.rows<{ action: string; seq: number }>(
      `select action, seq from receipts where workspace_id = $1 and action like $2 order by seq`,
      [this.workspaceId, like],
    );
  }

  /** A day of the calendar, from today by the clock of the test; in UTC. */
  day(back: number): string {
    return new Date(this.test.clock.now() - back * DAY_MS).toISOString().slice(0, 10);
  }
}
