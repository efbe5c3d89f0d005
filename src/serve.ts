import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Config } from './platform/config/config.js';
import { Drain } from './drain.js';
import { PublicAddress } from './platform/http/public-address.js';
import { RequestContext } from './platform/kernel/request-context.js';
import { Readiness } from './platform/observability/health.controller.js';
import { Worker } from './platform/work/worker.js';

/** Within this time after the first signal another one is the same: npm passes on what the terminal or systemd sent to all. */
const PASSED_ON_MS = 1_000;
/** How long a process may take to end after an error that nobody caught: what failed may never come to its end. */
const FAULT_END_MS = 30_000;

/** Listens; from then on the application knows the address it is reached at. */
export async function listen(app: NestExpressApplication, config: Config): Promise<void> {
  const server = (await app.listen(config.port, config.host)) as Server;
  // Longer than the usual load balancer keeps a connection, so that it is never we who close one it is about to use.
  server.keepAliveTimeout = 75_000;
  app.get(PublicAddress).listeningOn(server.address() as AddressInfo);
}

/** That this process is to end. */
export interface ProcessEnd {
  /** At the first signal, or at an error that nobody caught. */
  asked: Promise<void>;
  /** At a second SIGTERM or SIGINT, and at an error that nobody caught. */
  urged: Promise<void>;
}

/**
 * Call it before anything is started: a signal that nobody waits for, or an error that nobody catches, ends the process on
 * the spot, and leaves the embedded database running and work to be taken over.
 */
export function processEnd(onFault: (error: unknown, requestId: string | undefined) => void): ProcessEnd {
  const asked = Promise.withResolvers<void>();
  const urged = Promise.withResolvers<void>();
  let signalledAt: number | undefined;
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      signalledAt ??= performance.now();
      // A terminal that closes sends SIGHUP, and `npm start` another when npm ends: neither asks for haste.
      if (signal !== 'SIGHUP' && performance.now() - signalledAt > PASSED_ON_MS) urged.resolve();
      asked.resolve();
    });
  }
  const fault = (error: unknown) => {
    onFault(error, RequestContext.current?.requestId);
    if (process.exitCode === undefined) setTimeout(() => process.exit(), FAULT_END_MS).unref();
    process.exitCode = 1;
    asked.resolve();
    // What such a process still answers cannot be trusted, and the sooner it ends the sooner it is started again.
    urged.resolve();
  };
  // The reader of the output may be gone (a closed terminal, `tee` after Ctrl-C); that must not change the exit.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  process.on('uncaughtException', fault);
  process.on('unhandledRejection', fault);
  return { asked: asked.promise, urged: urged.promise };
}

/**
 * Serves until the process is to end, then ends without failing a request that has been taken: at first it is not ready but
 * still serves, until every balancer in front of it has noticed; only then it stops listening.
 */
export async function serveUntil(
  { asked, urged }: ProcessEnd,
  app: NestExpressApplication,
  drainSeconds: number,
  onAsked: () => void,
): Promise<void> {
  const drain = new Drain(app.getHttpServer() as Server);
  await asked;
  onAsked();
  const readiness = app.get(Readiness);
  readiness.drain();
  void app.get(Worker).drain();
  await Promise.race([urged, wait(drainSeconds * 1_000)]);
  readiness.close();
  await drain.end();
  await app.close();
}
