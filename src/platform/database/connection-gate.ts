import { Unavailable } from '../kernel/errors.js';

/** Admits so many at a time, in the order in which they came; who waits for too long is refused. */
export class ConnectionGate {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(
    private readonly admitted: number,
    private readonly timeoutMs: number,
  ) {
    this.#free = admitted;
  }

  /** How many are inside, how many more may enter at once, and how many wait. */
  get occupancy(): { busy: number; free: number; waiting: number } {
    return { busy: this.admitted - this.#free, free: this.#free, waiting: this.#waiting.size };
  }

  /** @throws Unavailable when nobody left in time */
  async enter(): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    const late = setTimeout(() => {
      this.#waiting.delete(resolve);
      reject(new Unavailable());
    }, this.timeoutMs);
    await promise.finally(() => clearTimeout(late));
  }

  /** Admits the one who has waited longest. */
  leave(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
