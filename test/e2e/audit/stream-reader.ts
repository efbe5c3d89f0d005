import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { eventually, type TestMember } from '../../support/test-app.js';

export interface StreamEvent {
  id: number;
  event: string;
  data: { seq: number; text: string };
}

/** A reader of `GET /feed/stream` that keeps each event it was sent. */
export class StreamReader {
  readonly events: StreamEvent[] = [];
  status = 0;
  headers: IncomingMessage['headers'] = {};
  /** What was received, as it came. */
  text = '';
  ended = false;
  readonly #request: ClientRequest;

  private constructor(member: TestMember, path: string, headers: Record<string, string>) {
    this.#request = request(`${member.url}/api/pro${path}`, {
      agent: false,
      headers: { 'x-service-token': member.token, 'X-Forwarded-For': member.address, ...headers },
    });
  }

  /** Opens a stream and waits for the head of its answer. */
  static async open(
    member: TestMember,
    query = '',
    headers: Record<string, string> = {},
  ): Promise<StreamReader> {
    const reader = new StreamReader(member, `/feed/stream${query}`, headers);
    await new Promise<void>((resolve, reject) => {
      reader.#request.once('error', reject).end();
      reader.#request.once('response', (response) => {
        reader.#request.on('error', () => undefined);
        reader.read(response);
        resolve();
      });
    });
    return reader;
  }

  get seqs(): number[] {
    return this.events.map(({ id }) => id);
  }

  async until(count: number): Promise<StreamEvent[]> {
    return eventually(
      async () => this.events,
      (events) => events.length >= count,
    );
  }

  close(): void {
    this.#request.destroy();
  }

  private read(response: IncomingMessage): void {
    this.status = response.statusCode!;
    this.headers = response.headers;
    response.setEncoding('utf8');
    let rest = '';
    response.on('data', (chunk: string) => {
      this.text += chunk;
      const blocks = (rest + chunk).split('\n\n');
      rest = blocks.pop()!;
      for (const block of blocks) {
        const event = /^id: (\d+)\nevent: (.+)\ndata: (.+)$/.exec(block);
        if (event) this.events.push({ id: Number(event[1]), event: event[2]!, data: JSON.parse(event[3]!) });
      }
    });
    response.on('error', () => undefined);
    response.once('close', () => (this.ended = true));
  }
}
