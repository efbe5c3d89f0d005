import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Config } from './platform/config/config.js';
import { Drain } from './drain.js';
import { PublicAddress } from './platform/http/public-address.js';
import { Readiness } from './platform/observability/health.controller.js';

/** Listens; from then on the application knows the address it is reached at. */
export async function listen(app: NestExpressApplication, config: Config): Promise<void> {
  const server = (await app.listen(config.port, config.host)) as Server;
  // Longer than the usual load balancer keeps a connection, so that it is never we who close one it is about to use.
  server.keepAliveTimeout = 75_000;
  app.get(PublicAddress).listeningOn(server.address() as AddressInfo);
}

/**
 * The first SIGTERM or SIGINT. Ask for it before anything is started: a signal that nobody waits for ends the process on
 * the spot, and leaves the embedded database running. Later ones are ignored: after Ctrl-C, npm passes on the SIGINT that
 * the terminal has sent to this process already.
 */
export function endSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => resolve());
  });
}

/** Waits for the signal, then ends without failing a request that has been taken. */
export async function drainOnSignal(
  app: NestExpressApplication,
  signal: Promise<void>,
  onSignal: () => void,
): Promise<void> {
  const drain = new Drain(app.getHttpServer() as Server);
  await signal;
  onSignal();
  app.get(Readiness).drain();
  await drain.end();
  await app.close();
}
