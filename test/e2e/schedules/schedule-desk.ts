import { expect } from 'vitest';
import { eventually, type TestApp } from '../../support/test-app.js';
import { Desk, DOCUMENT } from '../directives/desk.js';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const DAILY = { every: 'day', at: '09:00', timezone: 'UTC' };
export const SCHEDULE = {
  name: 'Board memo',
  directive: { text: DOCUMENT, capo: 'capo_ops' },
  rule: DAILY,
};

interface MadeDirective {
  directive_id: string;
  scheduled_for: Date | null;
  created_by: { type: string; id: string; name: string; via: string };
  requester_ids: string[];
  team_id: string | null;
}

/** A workspace with schedules, whose due times pass as the test says. */
export class ScheduleDesk extends Desk {
  private constructor(
    test: TestApp,
    token: string,
    readonly workspaceId: string,
  ) {
    super(test, token);
  }

  static async open(test: TestApp): Promise<ScheduleDesk> {
    const { workspaceId, owner } = await test.createWorkspace();
    return new ScheduleDesk(test, owner.token!, workspaceId);
  }

  /** The same workspace for another member. */
  as(token: string): ScheduleDesk {
    return new ScheduleDesk(this.test, token, this.workspaceId);
  }

  async schedule(
    body: object = {},
  ): Promise<{ scheduleId: string; nextRunAt: number; nextRunsAt: number[] }> {
    const answer = await this.client.post('/schedules', { ...SCHEDULE, ...body });
    expect(answer.status, answer.text).toBe(201);
    return answer.body;
  }

  async read(scheduleId: string) {
    return (await this.client.get(`/schedules/${scheduleId}`)).body;
  }

  patch(scheduleId: string, body: object) {
    return this.client.send('PATCH', `/schedules/${scheduleId}`, body);
  }

  /** What a schedule has handed in, oldest first. */
  made(scheduleId: string): Promise<MadeDirective[]> {
    return this.test.rows<MadeDirective>(
      `select directive_id, scheduled_for, created_by, requester_ids, team_id from directives
       where workspace_id = $1 and schedule_id = $2 order by created_at, directive_id`,
      [this.workspaceId, scheduleId],
    );
  }

  /** Moves the clock of the service and of its database to so long after this moment. */
  at(moment: number, later = 0): void {
    this.test.clock.stop(moment + later);
  }

  /** The schedule once all that is due has been handled, or cannot be just now. */
  async handled(scheduleId: string) {
    return eventually(
      () => this.read(scheduleId),
      ({ status, nextRunAt }) => status === 'paused' || nextRunAt > this.test.clock.now(),
    );
  }

  async receipts(scheduleId: string) {
    const rows = await this.test.rows<{ body: string }>(
      `select body from receipts where workspace_id = $1 and entity_id = $2 order by seq`,
      [this.workspaceId, scheduleId],
    );
    return rows.map(({ body }) => JSON.parse(body));
  }

  async acts(scheduleId: string): Promise<string[]> {
    return (await this.receipts(scheduleId)).map(({ action }) => action.replace('schedule.', ''));
  }
}
