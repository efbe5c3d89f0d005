import { Temporal } from 'temporal-polyfill';
import type { BudgetWindow } from '../standing-order.js';

/**
 * The day, week or month of a zone that times which come one after the other fall into. It begins where
 * `date_trunc(unit, time, zone)` of the database says, so that a replay and a decision count alike.
 */
export class CalendarWindow {
  #start = -Infinity;
  #end = -Infinity;

  constructor(
    private readonly unit: BudgetWindow,
    private readonly zone: string,
  ) {}

  /** Goes on to the window of `at`; true when that is another one than before. */
  moveTo(at: number): boolean {
    if (at < this.#end) return false;
    const today = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(this.zone).toPlainDate();
    const first = this.firstDay(today);
    const next = first.add(LENGTHS[this.unit]);
    // A midnight that the clock shows twice is the later one to the database; one that it skips is when it jumps.
    this.#start = first
      .toPlainDateTime()
      .toZonedDateTime(this.zone, { disambiguation: 'later' }).epochMilliseconds;
    this.#end = next.toZonedDateTime(this.zone).epochMilliseconds;
    return true;
  }

  /** Whether what happens at `at` belongs to the window that was moved to. */
  contains(at: number): boolean {
    return at >= this.#start;
  }

  private firstDay(today: Temporal.PlainDate): Temporal.PlainDate {
    if (this.unit === 'week') return today.subtract({ days: today.dayOfWeek - 1 });
    return this.unit === 'month' ? today.with({ day: 1 }) : today;
  }
}

const LENGTHS = { day: { days: 1 }, week: { weeks: 1 }, month: { months: 1 } } as const;
