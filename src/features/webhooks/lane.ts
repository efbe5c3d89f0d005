import type { TakenDelivery } from './deliveries.repository.js';

/** In flight to one destination at most, over all processes (CONTRACT, Webhooks). */
const LANE_WIDTH = 10;

/** What a lane needs of its surroundings. */
interface Surroundings {
  /** Takes up to `room` due deliveries; must not fail. */
  take(room: number): Promise<TakenDelivery[]>;
  /** Makes one attempt and writes down what came of it; must not fail. */
  send(delivery: TakenDelivery): Promise<void>;
}

/**
 * The way to one destination. Each has a lane of its own, so that a slow receiver delays nobody but itself. A lane
 * holds no work: what is due stands in the database, and the lane only knows that it should look.
 */
export class Lane {
  #inFlight = 0;
  #taking = false;
  /** A wake-up came while taking: what it is about may not have been seen. */
  #again = false;
  /** There may be more than there was room for. */
  #more = false;

  constructor(private readonly surroundings: Surroundings) {}

  /** Nothing is under way and nothing is known to wait. */
  get isIdle(): boolean {
    return this.#inFlight === 0 && !this.#taking;
  }

  /** Looks for what is due; a full lane looks when there is room again. */
  wake(): void {
    if (this.#taking) this.#again = true;
    else if (this.#inFlight >= LANE_WIDTH) this.#more = true;
    else void this.takeAll();
  }

  private async takeAll(): Promise<void> {
    this.#taking = true;
    do {
      this.#again = false;
      const room = LANE_WIDTH - this.#inFlight;
      const taken = await this.surroundings.take(room);
      this.#more = taken.length === room;
      for (const delivery of taken) void this.send(delivery);
    } while (this.#again && this.#inFlight < LANE_WIDTH);
    this.#more ||= this.#again;
    this.#taking = false;
  }

  private async send(delivery: TakenDelivery): Promise<void> {
    this.#inFlight++;
    await this.surroundings.send(delivery);
    this.#inFlight--;
    // Half a lane at a time: one look-up serves several deliveries.
    if (this.#more && this.#inFlight <= LANE_WIDTH / 2) this.wake();
  }
}
