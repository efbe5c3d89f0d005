import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { announceWait } from '../kernel/announce-wait.js';
import { packagedBinaries } from './binaries.js';
import { initialiseCluster, readPassword } from './cluster.js';
import type { Cluster } from './connection.js';
import { findLocation, hasCluster, type Host, systemStateFolder } from './location.js';
import { withLock } from './lock.js';
import { adoptServer, startServer } from './server.js';
import { SharedServer } from './shared-server.js';
import { leaveToFolderOwner } from './user.js';

interface StartOptions {
  dataDir: string;
  settings?: Record<string, string>;
  log: (message: string) => void;
}

/**
 * One starter at a time per `dataDir`, from the look at the folder until the server answers: who comes
 * second finds a server to adopt.
 */
export async function startFrom(host: Host, options: StartOptions): Promise<SharedServer> {
  const { settings = {}, log } = options;
  await mkdir(options.dataDir, { recursive: true });
  const dataDir = await realpath(options.dataDir);
  const startLock = join(dataDir, 'postgres.lock');
  return withLock(startLock, log, async () => {
    leaveToFolderOwner(startLock);
    const location = await findLocation(host, dataDir, log);
    const initialised = !hasCluster(location.directory);
    if (initialised) await initialiseCluster(location, { sync: settings.fsync !== 'off', log });
    const cluster: Cluster = {
      directory: location.directory,
      password: await readPassword(location.directory),
    };
    const running = `the database server that already runs in ${cluster.directory} to answer or end`;
    const find = () => announceWait(running, log, () => adoptServer(location, cluster, log));
    const launch = (port?: number) => startServer(location, cluster, settings, log, port);
    const server = (await find()) ?? (await launch());
    return new SharedServer({ cluster, initialised, dataDir, startLock, server, find, launch, log });
  });
}

/**
 * The PostgreSQL that runs when `DATABASE_URL` is unset: started, adopted or recovered in `dataDir`
 * (`DATA_DIR`), where it keeps `postgres/` (the cluster), `postgres.log`, `postgres.lock` (who starts or ends it) and
 * `postgres.users` (who uses it).
 *
 * `settings` are further `-c name=value` flags, and win over ours.
 */
export async function startEmbeddedPostgres(options: StartOptions): Promise<SharedServer> {
  return startFrom({ binaries: packagedBinaries(), stateFolder: systemStateFolder }, options);
}
