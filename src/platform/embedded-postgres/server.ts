import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { announceWait } from '../kernel/announce-wait.js';
import { StartRefused } from '../kernel/start-refused.js';
import { isServing, type Cluster } from './connection.js';
import type { ServerLocation } from './location.js';
import { adoptedPostmaster, launchPostmaster, type Postmaster } from './postmaster.js';
import { findServer, readPidFile } from './process.js';

export interface Server {
  port: number;
  startedByUs: boolean;
  running: () => boolean;
  /** Fast shutdown, also of a server that another process started; may be called again. */
  stop: () => Promise<void>;
}

/** Crash recovery replays up to `max_wal_size`. */
const START_LIMIT_MS = 120_000;
const FAST_SHUTDOWN_LIMIT_MS = 30_000;
const IMMEDIATE_SHUTDOWN_LIMIT_MS = 10_000;
/** How long a lost port, or backends that outlive a killed server, are worth another try. */
const RETRY_LIMIT_MS = 30_000;
const RETRYABLE = /could not create any TCP\/IP sockets|pre-existing shared memory block/;
const RETRY_MS = 20;
const POLL_MS = 5;

/** For a small machine that runs the application too; TCP on the loopback is the only way in. */
const DEFAULTS: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  huge_pages: 'off',
  // Checkpoints by time alone, unless a gigabyte is written first: also the bound on crash recovery.
  max_wal_size: '1GB',
  checkpoint_timeout: '15min',
  // Many short queries; and a container's /dev/shm of 64 MB fails parallel ones.
  max_parallel_workers_per_gather: '0',
  // The client is told about its errors. In the log they would leave statements and values.
  log_min_messages: 'log',
  log_checkpoints: 'off',
};

/**
 * The live server over the cluster, if there is one. It may be in recovery, or on its way down: it is
 * waited for until it answers or is gone.
 */
export async function adoptServer(
  location: ServerLocation,
  cluster: Cluster,
  log: (message: string) => void,
): Promise<Server | undefined> {
  const deadline = performance.now() + START_LIMIT_MS;
  for (;;) {
    const pid = await findServer(cluster.directory);
    if (pid === undefined) return undefined;
    const port = readPidFile(cluster.directory)?.port;
    if (port && (await isServing(cluster, port))) {
      log(`Using the embedded database that is already running (process ${pid}, port ${port}).`);
      return serverOf(adoptedPostmaster(location, pid), port, false);
    }
    if (performance.now() > deadline) {
      throw new StartRefused(
        `Process ${pid} uses ${cluster.directory} but does not answer. End that process, then start again.`,
      );
    }
    await sleep(POLL_MS);
  }
}

/**
 * Starts a server on `fixedPort`, else on a free port: another one if that was taken before the server could bind it.
 */
export async function startServer(
  location: ServerLocation,
  cluster: Cluster,
  settings: Record<string, string>,
  log: (message: string) => void,
  fixedPort?: number,
): Promise<Server> {
  const begun = performance.now();
  for (;;) {
    const port = fixedPort ?? (await freePort());
    const postmaster = launchPostmaster(location, { ...DEFAULTS, ...settings, port: String(port) });
    const what = `the embedded database in ${cluster.directory} to be ready; after a crash it recovers first`;
    if (await announceWait(what, log, () => becomesReady(postmaster, cluster, port))) {
      const took = Math.round(performance.now() - begun);
      log(`The embedded database is ready on port ${port} after ${took} ms (${cluster.directory}).`);
      return serverOf(postmaster, port, true);
    }
    const tail = postmaster.logTail();
    if (!RETRYABLE.test(tail) || performance.now() - begun > RETRY_LIMIT_MS) {
      throw new StartRefused(`The embedded database stopped while it was starting:\n${tail}`);
    }
    await sleep(RETRY_MS);
  }
}

function serverOf(postmaster: Postmaster, port: number, startedByUs: boolean): Server {
  let stopping: Promise<void> | undefined;
  return {
    port,
    startedByUs,
    running: () => postmaster.running(),
    stop: () => (stopping ??= stop(postmaster)),
  };
}

/**
 * False if the server ends. The port is not spoken to before the server has said in its pid file that it
 * is its own: another program that took it meanwhile could ask us for the password.
 */
async function becomesReady(postmaster: Postmaster, cluster: Cluster, port: number): Promise<boolean> {
  const deadline = performance.now() + START_LIMIT_MS;
  try {
    while (postmaster.running()) {
      const file = readPidFile(cluster.directory);
      if (file?.ready && file.port === port && (await isServing(cluster, port))) return true;
      if (performance.now() > deadline) {
        throw new StartRefused(
          `The embedded database is not ready after two minutes:\n${postmaster.logTail()}`,
        );
      }
      await sleep(POLL_MS);
    }
    return false;
  } catch (error) {
    await stop(postmaster);
    throw error;
  }
}

async function stop(postmaster: Postmaster): Promise<void> {
  if (await shutsDown(postmaster, 'fast', FAST_SHUTDOWN_LIMIT_MS)) return;
  if (await shutsDown(postmaster, 'immediate', IMMEDIATE_SHUTDOWN_LIMIT_MS)) return;
  throw new StartRefused(`The embedded database does not stop:\n${postmaster.logTail()}`);
}

async function shutsDown(
  postmaster: Postmaster,
  mode: 'fast' | 'immediate',
  limit: number,
): Promise<boolean> {
  const deadline = performance.now() + limit;
  if (postmaster.running()) postmaster.shutDown(mode);
  while (postmaster.running()) {
    if (performance.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** PostgreSQL has no port 0. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
