import { Clock } from '../../src/platform/kernel/clock.js';

/**
 * The time as the application under test sees it: the real one until a test moves it on or stops it. What PostgreSQL
 * decides by its own clock (leases, due times) is not moved by it: a test sets such rows back by SQL.
 */
export class TestClock extends Clock {
  #ahead = 0;
  #stoppedAt: number | undefined;

  override now(): number {
    return this.#stoppedAt ?? Date.now() + this.#ahead;
  }

  advance(ms: number): void {
    if (this.#stoppedAt === undefined) this.#ahead += ms;
    else this.#stoppedAt += ms;
  }

  /** The time stands still, from now or at this instant, until it is advanced or goes on. */
  stop(at = this.now()): void {
    this.#stoppedAt = at;
  }

  /** The time stands still at the beginning of a minute, where windows of whole minutes begin. */
  stopAtMinute(): void {
    this.stop(Math.floor(this.now() / 60_000) * 60_000);
  }

  /** The real time again. */
  goOn(): void {
    this.#stoppedAt = undefined;
    this.#ahead = 0;
  }
}
