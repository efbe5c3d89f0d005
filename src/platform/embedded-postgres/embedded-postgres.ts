import { packagedBinaries } from './binaries.js';
import { systemStateFolder } from './location.js';
import type { SharedServer } from './shared-server.js';
import { startFrom, type StartOptions } from './start.js';

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
