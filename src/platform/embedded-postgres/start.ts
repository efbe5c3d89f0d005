import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { initialiseCluster, readPassword } from './cluster.js';
import { databaseUrl } from './connection.js';
import { withLock } from './lock.js';
import { findPlace, hasCluster, type Host } from './place.js';
import { adoptServer, startServer } from './server.js';
import { leaveToFolderOwner } from './user.js';

/** A running server of ours. */
export interface EmbeddedPostgres {
  /** `postgres://consigliere:<password>@127.0.0.1:<port>/consigliere`, a superuser. */
  url: string;
  port: number;
  /** The cluster: `<dataDir>/postgres`, or below the system's state folder. */
  directory: string;
  /** False when a live server was adopted; `stop` leaves that one running. */
  startedByUs: boolean;
  /** True when this start made the cluster. */
  initialised: boolean;
  /** Fast shutdown, if we started it; may be called again. */
  stop: () => Promise<void>;
}

export interface StartOptions {
  dataDir: string;
  settings?: Record<string, string>;
  log: (message: string) => void;
}

/**
 * One starter at a time per `dataDir`, from the look at the folder until the server answers: who comes
 * second finds a server to adopt.
 */
export async function startFrom(host: Host, options: StartOptions): Promise<EmbeddedPostgres> {
  const { settings = {}, log } = options;
  await mkdir(options.dataDir, { recursive: true });
  const dataDir = await realpath(options.dataDir);
  const lock = join(dataDir, 'postgres.lock');
  return withLock(lock, async () => {
    leaveToFolderOwner(lock);
    const place = await findPlace(host, dataDir, log);
    const initialised = !hasCluster(place.directory);
    if (initialised) await initialiseCluster(place, { sync: settings.fsync !== 'off', log });
    const cluster = { directory: place.directory, password: await readPassword(place.directory) };

    const server = (await adoptServer(cluster, log)) ?? (await startServer(place, cluster, settings, log));
    return {
      url: databaseUrl(cluster, server.port),
      port: server.port,
      directory: cluster.directory,
      startedByUs: server.startedByUs,
      initialised,
      stop: server.stop,
    };
  });
}
