import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it came: the header lines in their order and spelling, and the exact bytes of the body. */
interface Received {
  method: string;
  path: string;
  rawHeaders: [name: string, value: string][];
  headers: IncomingMessage['headers'];
  body: Buffer;
  /** `performance.now()` when the last byte had come, in milliseconds. */
  at: number;
  /** The `webhook-id`. */
  eventId: string;
}

export interface EventReceiver {
  url: string;
  /** For OUTBOUND_ALLOW. */
  hostPort: string;
  received: Received[];
  close(): Promise<void>;
}

type Answer = (received: Received, response: ServerResponse, count: number) => void;

/** Listens on loopback and answers 200, or as `answer` does; `count` is the number of this request, from 1. */
export async function startEventReceiver(answer?: Answer): Promise<EventReceiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { rawHeaders, headers, url, method } = request;
      const one: Received = {
        method: method!,
        path: url!,
        rawHeaders: rawHeaders.flatMap((name, index) =>
          index % 2 === 0 ? [[name, rawHeaders[index + 1]!] as [string, string]] : [],
        ),
        headers,
        body: Buffer.concat(chunks),
        at: performance.now(),
        eventId: String(headers['webhook-id']),
      };
      received.push(one);
      if (answer) answer(one, response, received.length);
      else response.end();
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hostPort = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${hostPort}/events`,
    hostPort,
    received,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
