import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

/** While connections in use are told, one by one with their answers, that this process ends. */
const GRACE_MS = 500;
/** How long requests in flight may take after that. */
const LONGEST_REQUEST_MS = 15_000;

/**
 * Ends a server without failing a request that has reached it. A kept connection cannot be closed at once: its client
 * may be sending on it this moment. So for a short while every answer says `Connection: close`, and only then the
 * connections that said nothing meanwhile are closed.
 */
export class Drain {
  readonly #inFlight = new Set<ServerResponse>();
  #begun = false;

  constructor(private readonly server: Server) {
    server.prependListener('request', (_request, response: ServerResponse) => {
      if (this.#begun) response.setHeader('Connection', 'close');
      this.#inFlight.add(response);
      response.once('close', () => this.#inFlight.delete(response));
    });
  }

  async end(): Promise<void> {
    this.#begun = true;
    for (const response of this.#inFlight) lastOnItsConnection(response);
    await wait(GRACE_MS);
    const closed = once(this.server, 'close');
    this.server.close();
    const late = setTimeout(() => this.server.closeAllConnections(), LONGEST_REQUEST_MS);
    await closed;
    clearTimeout(late);
  }
}

function lastOnItsConnection(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
  // A stream has promised to keep the connection; it is ended for it when the stream ends.
  else response.once('finish', () => response.req.socket.end());
}
