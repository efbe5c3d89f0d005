import { realpathSync } from 'node:fs';
import { Client } from 'pg';
import { StartRefused } from '../kernel/start-refused.js';

export const SUPERUSER = 'consigliere';
const DATABASE = 'consigliere';

/** A cluster and the key to it. */
export interface Cluster {
  directory: string;
  password: string;
}

export function databaseUrl({ password }: Cluster, port: number): string {
  return `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${DATABASE}`;
}

/**
 * Whether the server at `port` answers and serves this cluster. Creates our database if it is missing: the
 * start that made the cluster may have been killed in between.
 */
export async function isServing(cluster: Cluster, port: number): Promise<boolean> {
  const client = new Client({
    host: '127.0.0.1',
    port,
    user: SUPERUSER,
    password: cluster.password,
    database: 'postgres',
    ssl: false,
    connectionTimeoutMillis: 2_000,
  });
  // A connection that breaks between two statements reports here as well as in the next statement.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ directory: string; complete: boolean }>(
      `SELECT current_setting('data_directory') AS directory,
              EXISTS (SELECT FROM pg_database WHERE datname = $1) AS complete`,
      [DATABASE],
    );
    if (!rows[0] || realpathSync(rows[0].directory) !== realpathSync(cluster.directory)) return false;
    if (!rows[0].complete) await client.query(`CREATE DATABASE ${DATABASE}`);
    return true;
  } catch (error) {
    if (isNotYet(error)) return false;
    throw new StartRefused(
      `The database server in ${cluster.directory} refused the connection: ${String(error)}`,
      {
        cause: error,
      },
    );
  } finally {
    await client.end();
  }
}

/** No server, or one that is starting up or shutting down (class 57P), in contrast to one that refuses. */
function isNotYet(error: unknown): boolean {
  const { code, message } = error as Error & { code?: string };
  return code ? /^(57P|ECONN)/.test(code) : /terminated|timeout/.test(message);
}
