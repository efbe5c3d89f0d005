import { packagedBinaries } from './binaries.js';
import { systemStateFolder } from './place.js';
import { startFrom, type EmbeddedPostgres, type StartOptions } from './start.js';

export type { EmbeddedPostgres } from './start.js';

/**
 * The PostgreSQL that runs when `DATABASE_URL` is unset: started, adopted or recovered in `dataDir`
 * (`DATA_DIR`), where it keeps `postgres/` (the cluster), `postgres.log` and `postgres.lock`.
 *
 * `settings` are further `-c name=value` flags, and win over ours.
 */
export async function startEmbeddedPostgres(options: StartOptions): Promise<EmbeddedPostgres> {
  return startFrom({ binaries: packagedBinaries(), stateFolder: systemStateFolder }, options);
}
