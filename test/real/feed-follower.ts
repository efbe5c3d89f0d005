import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProxiedClient } from './proxied-client.js';

/** As the stream asks for. */
const RECONNECT_MS = 1_000;

/** Reads `GET /feed/stream`, and comes back where it left off when the stream ends, as a browser does. */
export class FeedFollower {
  /** The numbers of the events, in the order they came in. */
  readonly ids: number[] = [];
  /** Where to go on: a stream begins with a number that belongs to no event. */
  #last: string | undefined;
  text = '';
  /** How often a stream was opened. */
  opened = 0;
  /** What was answered instead of a stream, or broke one. */
  readonly failures: string[] = [];
  #closed = false;
  #response: IncomingMessage | undefined;
  readonly #running: Promise<void>;

  constructor(private readonly client: ProxiedClient) {
    this.#running = this.run();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#response?.destroy();
    await this.#running;
  }

  private async run(): Promise<void> {
    while (!this.#closed) {
      try {
        await this.follow();
      } catch (error) {
        if (!this.#closed) this.failures.push(String(error));
      }
      if (!this.#closed) await sleep(RECONNECT_MS);
    }
  }

  private async follow(): Promise<void> {
    const headers: Record<string, string> = this.#last === undefined ? {} : { 'Last-Event-ID': this.#last };
    const response = await this.client.open('GET', '/feed/stream', [], headers);
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
    this.#response = response;
    this.opened++;
    response.setEncoding('utf8');
    let rest = '';
    for await (const chunk of response) {
      this.text += chunk;
      const lines = (rest + chunk).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        const [, id] = /^id: (\d+)$/.exec(line) ?? [];
        if (id !== undefined) this.#last = id;
        if (line.startsWith('data: ')) this.ids.push(Number(this.#last));
      }
    }
  }
}
