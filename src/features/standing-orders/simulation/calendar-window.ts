import type { BudgetWindow } from '../standing-order.js';
import { endOfWindow } from '../windows.js';

/** The day, week or month of a zone that times which come one after the other fall into. */
export class CalendarWindow {
  #end = -Infinity;

  constructor(
    private readonly unit: BudgetWindow,
    private readonly zone: string,
  ) {}

  /** Goes on to the window of `at`; true when that is another one than before. */
  moveTo(at: number): boolean {
    if (at < this.#end) return false;
    this.#end = endOfWindow(this.unit, at, this.zone);
    return true;
  }
}
