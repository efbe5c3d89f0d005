/** Asks a process once a second whether it is ready, as a load balancer does. */
export class Probes {
  /** What was answered, each time it was something else than before. */
  readonly #seen: (number | 'refused')[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(url: string) {
    this.#timer = setInterval(() => void this.ask(url), 1_000);
  }

  stop(): (number | 'refused')[] {
    clearInterval(this.#timer);
    return this.#seen;
  }

  private async ask(url: string): Promise<void> {
    // Over a connection of its own: one that was kept says nothing about the listener.
    const answer = await fetch(`${url}/health/ready`, { headers: { Connection: 'close' } }).then(
      ({ status }) => status,
      () => 'refused' as const,
    );
    if (this.#seen.at(-1) !== answer) this.#seen.push(answer);
  }
}
