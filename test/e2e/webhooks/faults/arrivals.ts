import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Answers the `nth` request, from 1, that carried this event to this place. */
type Answer = (response: ServerResponse, eventId: string, nth: number) => void;

/** One destination's side: when each event came, by its `webhook-id`, in milliseconds of `performance.now()`. */
export interface Place {
  url: string;
  arrivals: Map<string, number[]>;
}

/** A receiver on loopback that keeps nothing of a request but its id and its time, so that it can take a hundred thousand. */
export class Arrivals {
  /** Requests so far, at all places. */
  total = 0;
  readonly #places = new Map<string, Place & { answer: Answer }>();
  readonly #server = createServer((request, response) => {
    request.resume().on('end', () => {
      const place = this.#places.get(request.url!);
      if (!place) return void response.writeHead(404).end();
      const eventId = String(request.headers['webhook-id']);
      const times = place.arrivals.get(eventId) ?? [];
      place.arrivals.set(eventId, times);
      times.push(performance.now());
      this.total++;
      place.answer(response, eventId, times.length);
    });
  });

  static async listen(): Promise<Arrivals> {
    const arrivals = new Arrivals();
    arrivals.#server.keepAliveTimeout = 60_000;
    arrivals.#server.listen(0, '127.0.0.1');
    await once(arrivals.#server, 'listening');
    return arrivals;
  }

  /** For OUTBOUND_ALLOW. */
  get hostPort(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Another address to send to; it answers 200 unless told otherwise. */
  place(answer: Answer = (response) => response.end()): Place {
    const path = `/${this.#places.size + 1}`;
    const place = { url: `http://${this.hostPort}${path}`, arrivals: new Map(), answer };
    this.#places.set(path, place);
    return place;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
