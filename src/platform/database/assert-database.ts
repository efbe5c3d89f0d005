import pg from 'pg';
import { StartRefused } from '../kernel/start-refused.js';

const TIMEOUT_MS = 10_000;
const OLDEST_VERSION = 15;

/**
 * Logs in once as the user of DATABASE_URL, with an end to waiting, before anything is asked of the database.
 * @throws StartRefused for a server that is too old; what the driver says otherwise is explained by `databaseFault`
 */
export async function assertDatabase(url: string): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'consigliere start',
    connectionTimeoutMillis: TIMEOUT_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ version: string }>('show server_version');
    const { version } = rows[0]!;
    if (parseInt(version, 10) < OLDEST_VERSION)
      throw new StartRefused(
        `The PostgreSQL server of DATABASE_URL is version ${version}, and Consigliere needs ${OLDEST_VERSION} or newer. Upgrade it, or use another server.`,
      );
  } finally {
    await client.end().catch(() => undefined);
  }
}
