import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Gathers what comes while a call is under way, and hands it over in the next: alone an item goes at once, under load
 * one call serves many.
 */
export class Batches<T> {
  #waiting: T[] = [];
  #handing: Promise<void> | undefined;
  /** A call for many belongs to none of the requests that it serves. */
  readonly #apart = AsyncLocalStorage.snapshot();

  /**
   * @param hand takes the items that have gathered; must not fail
   * @param gatherMs how long the items between two calls gather, in milliseconds
   */
  constructor(
    private readonly hand: (items: T[]) => Promise<void>,
    private readonly gatherMs: number,
  ) {}

  add(...items: T[]): void {
    this.#waiting.push(...items);
    if (this.#waiting.length > 0) this.#handing ??= this.#apart(() => this.handAll());
  }

  /** Ends when nothing waits any more. */
  async drained(): Promise<void> {
    await this.#handing;
  }

  private async handAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const items = this.#waiting;
      this.#waiting = [];
      await this.hand(items);
      await pause(this.gatherMs);
    }
    this.#handing = undefined;
  }
}
