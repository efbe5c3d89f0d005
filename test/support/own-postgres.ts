import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { packagedBinaries } from '../../src/platform/embedded-postgres/binaries.js';
import { findLocation, systemStateFolder } from '../../src/platform/embedded-postgres/location.js';
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres/embedded-postgres.js';
import { launchPostmaster } from '../../src/platform/embedded-postgres/postmaster.js';
import type { TestDatabase } from './test-database.js';

/** A server of a test's own, which it may end: it survives that as a production server does, and keeps its port. */
export interface OwnPostgres {
  /** `drop` ends the server and removes its data. */
  database: TestDatabase;
  /** Immediate shutdown: nothing is written any more, connections break, and the next start recovers. */
  crash(): Promise<void>;
  /** Answers once it takes connections again. */
  start(): Promise<void>;
}

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const dataDir = await mkdtemp(join(tmpdir(), 'consigliere-own-'));
  // Run by root, the server works as another user, who must be able to enter.
  await chmod(dataDir, 0o755);
  const log = () => undefined;
  const made = await startEmbeddedPostgres({ dataDir, log });
  await made.stop();
  const location = await findLocation(
    { binaries: packagedBinaries(), stateFolder: systemStateFolder },
    dataDir,
    log,
  );
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    port: String(made.port),
  };
  const ended = async () => {
    while (postmaster.running()) await sleep(5);
  };
  const start = async () => {
    postmaster = launchPostmaster(location, settings);
    while (!(await answers(made.url))) {
      if (!postmaster.running()) throw new Error(`the server ended:\n${postmaster.logTail()}`);
      await sleep(5);
    }
  };
  const crash = async () => {
    postmaster.shutDown('immediate');
    await ended();
  };
  let postmaster = launchPostmaster(location, settings);
  process.once('exit', () => postmaster.shutDown('immediate'));
  while (!(await answers(made.url))) await sleep(5);
  const owner = new pg.Pool({ connectionString: made.url, max: 4 });
  owner.on('error', () => undefined);
  return {
    database: {
      url: made.url,
      owner,
      async drop() {
        await owner.end();
        await crash();
        await rm(dataDir, { recursive: true, force: true });
      },
    },
    crash,
    start,
  };
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
