import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound } from '../../platform/kernel/errors.js';

/** A day of the calendar in the workspace's zone. */
export interface LocalDay {
  /** YYYY-MM-DD */
  date: string;
  timezone: string;
  /** Its first moment, and that of the next day; Unix milliseconds. */
  from: number;
  to: number;
  workspaceName: string;
  /** It is not over yet. */
  isPartial: boolean;
}

/**
 * By the noon of the day and of the next: midnight may not exist in a zone, or come twice, and a whole day may be left out, in
 * which case its noon lies in another.
 */
const DAY = /* sql */ `
with zone as (select name as workspace_name, created_at, app.workspace_zone(workspace_id) as timezone
  from workspaces where workspace_id = $1),
asked as (select *, coalesce($3::date, ($2::timestamptz at time zone timezone)::date) as day from zone),
noons as (select *, (day + time '12:00') at time zone timezone as noon, (day + 1 + time '12:00') at time zone timezone as next_noon
  from asked)
select workspace_name, timezone, to_char(day, 'YYYY-MM-DD') as date, app.ms(app.window_start('day', noon, timezone)) as "from",
  app.ms(app.window_start('day', next_noon, timezone)) as "to", app.window_start('day', next_noon, timezone) > $2 as is_partial,
  (noon at time zone timezone)::date = day and day <= ($2::timestamptz at time zone timezone)::date
    and day >= (created_at at time zone timezone)::date as is_there
from noons`;

@Injectable()
export class LocalDays {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
  ) {}

  /**
   * The day, or today.
   * @throws NotFound for one that is to come, that the zone has left out, or from before the workspace was made
   */
  async read(scope: Scope, date: string | undefined): Promise<LocalDay> {
    const [row] = await this.db.read<LocalDay & { isThere: boolean }>(scope, DAY, [
      scope.workspaceId,
      new Date(this.clock.now()),
      date ?? null,
    ]);
    const { isThere, ...day } = row!;
    if (!isThere) {
      throw new NotFound({
        message: `There is no report of ${day.date}: the day is still to come, lies before this workspace, or does not exist in ${day.timezone}.`,
      });
    }
    return day;
  }
}
