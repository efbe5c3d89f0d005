import { once } from 'node:events';
import type { Server } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Config } from './platform/config/config.js';
import { Drain } from './drain.js';
import { Readiness } from './platform/observability/health.controller.js';

/** Listens; answers the address it is reached at. */
export async function listen(app: NestExpressApplication, config: Config): Promise<string> {
  const server = (await app.listen(config.port, config.host)) as Server;
  // Longer than the usual load balancer keeps a connection, so that it is never we who close one it is about to use.
  server.keepAliveTimeout = 75_000;
  server.headersTimeout = 80_000;
  answerBrokenRequests(server);
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : config.port;
  return config.publicUrl ?? `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
}

/** Waits for SIGTERM or SIGINT, then ends without failing a request that has been taken. */
export async function drainOnSignal(app: NestExpressApplication): Promise<void> {
  const drain = new Drain(app.getHttpServer() as Server);
  await Promise.race(['SIGTERM', 'SIGINT'].map((signal) => once(process, signal)));
  app.get(Readiness).drain();
  await drain.end();
  await app.close();
}

/** What Node's parser refuses never becomes a request; it is answered in our shape all the same. */
function answerBrokenRequests(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return;
    const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
    const status = tooLarge ? '431 Request Header Fields Too Large' : '400 Bad Request';
    const body = JSON.stringify({
      error: {
        code: 'MALFORMED_REQUEST',
        message: 'This is not a valid HTTP request.',
        status: tooLarge ? 431 : 400,
      },
      reason: tooLarge ? 'headers_too_large' : 'malformed_request',
      requestId: null,
    });
    socket.end(
      `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  });
}
