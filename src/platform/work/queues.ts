/** How much of a kind of work this process takes on: in all, and of one queue. */
interface Width {
  pool: number;
  perQueue: number;
}

/**
 * Which queues of one kind are to be looked at, and how many of their items are in flight in this process. It holds no
 * work: what is due stands in the database. Queues take turns, and share what is free of the pool.
 */
export class Queues {
  /** Queues that may have something due, the next to be looked at first. */
  readonly #ready = new Set<string>();
  /** Queues that have more than may be in flight; they are ready again when half of what is in flight here has ended. */
  readonly #full = new Set<string>();
  /** Queues whose items others have in flight; they are ready again when {@link retry} says so. */
  readonly #elsewhere = new Set<string>();
  readonly #inFlight = new Map<string, number>();
  #total = 0;

  constructor(private readonly width: Width) {}

  /** Nothing is under way. */
  get isIdle(): boolean {
    return this.#total === 0;
  }

  wake(queue: string): void {
    this.#ready.add(queue);
  }

  /** Looks again at the queues of which nothing could be claimed, though something was due. */
  retry(): void {
    for (const queue of this.#elsewhere) this.#ready.add(queue);
    this.#elsewhere.clear();
  }

  /** The queues to claim from now, each with how many of its items there is room for; empty when there is none. */
  grant(): Map<string, number> {
    const grants = new Map<string, number>();
    let free = this.width.pool - this.#total;
    const share = Math.max(1, Math.floor(free / Math.max(1, this.#ready.size)));
    for (const queue of this.#ready) {
      if (free <= 0) break;
      this.#ready.delete(queue);
      const room = Math.min(share, free, this.width.perQueue - this.inFlightOf(queue));
      if (room <= 0) {
        this.#full.add(queue);
        continue;
      }
      grants.set(queue, room);
      free -= room;
    }
    return grants;
  }

  /**
   * So many of a queue were claimed where there was room for `room`, and it has more that is due, or not. When there was
   * room for more, other processes have what may be in flight: this one looks again when some of its own has ended, and
   * with none of its own at the next {@link retry}.
   */
  claimed(queue: string, count: number, room: number, hasMore: boolean): void {
    const inFlight = this.inFlightOf(queue) + count;
    this.#total += count;
    if (inFlight > 0) this.#inFlight.set(queue, inFlight);
    if (!hasMore) return;
    if (inFlight === 0) this.#elsewhere.add(queue);
    else if (count === room && inFlight < this.width.perQueue) this.#ready.add(queue);
    else this.#full.add(queue);
  }

  /** An item of this queue is done with. */
  ended(queue: string): void {
    this.#total--;
    const left = this.inFlightOf(queue) - 1;
    if (left === 0) this.#inFlight.delete(queue);
    else this.#inFlight.set(queue, left);
    // Half a share at a time, so that one look-up serves several items.
    if (left <= this.width.perQueue / 2 && this.#full.delete(queue)) this.#ready.add(queue);
  }

  private inFlightOf(queue: string): number {
    return this.#inFlight.get(queue) ?? 0;
  }
}
