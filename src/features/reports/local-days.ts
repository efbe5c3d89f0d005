import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { dayAfter, dayOf, isDayIn, startOf } from '../../platform/kernel/local-day.js';
import { Workspaces } from '../workspaces/index.js';

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

@Injectable()
export class LocalDays {
  constructor(
    private readonly workspaces: Workspaces,
    private readonly clock: Clock,
  ) {}

  /**
   * The day, or today.
   * @throws NotFound for one that is to come, that the zone has left out, or from before the workspace was made
   */
  async read(scope: Scope, date: string | undefined): Promise<LocalDay> {
    const { name: workspaceName, timezone, createdAt } = await this.workspaces.calendar(scope);
    const now = this.clock.now();
    const today = dayOf(now, timezone);
    const day = date ?? today;
    if (day > today || day < dayOf(createdAt, timezone) || !isDayIn(day, timezone)) {
      throw new NotFound({
        message: `There is no report of ${day}: the day is still to come, lies before this workspace, or does not exist in ${timezone}.`,
      });
    }
    const from = startOf(day, timezone);
    const to = startOf(dayAfter(day, timezone), timezone);
    return { date: day, timezone, from, to, workspaceName, isPartial: to > now };
  }
}
