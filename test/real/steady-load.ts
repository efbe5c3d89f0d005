/** A request of a load: its status, or why there was no answer, and what it was told to wait. */
export interface Outcome {
  status: number | string;
  retryAfter: string | undefined;
  tookMs: number;
}

interface Answered {
  status: number;
  retryAfter: string | undefined;
}

/** So many requests a second, however long each takes, until it is stopped. */
export class SteadyLoad {
  readonly outcomes: Outcome[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #inFlight = new Set<Promise<void>>();
  #sent = 0;

  constructor(
    perSecond: number,
    private readonly request: (index: number) => Promise<Answered>,
  ) {
    this.#timer = setInterval(() => {
      const sent = this.send(this.#sent++);
      this.#inFlight.add(sent);
      void sent.finally(() => this.#inFlight.delete(sent));
    }, 1000 / perSecond);
  }

  /** Answers every outcome, once the last request has one. */
  async stop(): Promise<Outcome[]> {
    clearInterval(this.#timer);
    await Promise.all(this.#inFlight);
    return this.outcomes;
  }

  private async send(index: number): Promise<void> {
    const began = performance.now();
    const answered = await this.request(index).catch((error: Error & { code?: string }) => ({
      status: error.code ?? error.message,
      retryAfter: undefined,
    }));
    this.outcomes.push({ ...answered, tookMs: performance.now() - began });
  }
}

/** How many there were of each status, and how long they took. */
export function figuresOf(outcomes: readonly Outcome[]) {
  const statuses: Record<string, number> = {};
  for (const { status } of outcomes) statuses[status] = (statuses[status] ?? 0) + 1;
  const took = outcomes.map(({ tookMs }) => tookMs).toSorted((one, two) => one - two);
  const at = (share: number) => Math.round(took[Math.floor(share * (took.length - 1))] ?? 0);
  return { requests: outcomes.length, statuses, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}
