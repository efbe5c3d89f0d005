import pg from 'pg';
import { StartRefused } from '../kernel/start-refused.js';
import { addressOf } from './database-fault.js';

/** How long a connection, and a statement that prepares it, is waited for, in milliseconds. */
export const CONNECT_TIMEOUT_MS = 5_000;

/** For connections whose statements all take milliseconds, unless a pooler has no session left for them. */
export const BOUNDED = { query_timeout: CONNECT_TIMEOUT_MS };

/** Settings of PostgreSQL by name. */
type Settings = Readonly<Record<string, string>>;

/** A connection of its own, beside the pool. The caller ends it. */
export async function openConnection(
  url: string,
  name: string,
  { settings = {}, ...options }: { settings?: Settings } & pg.ClientConfig = {},
): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    ...options,
  });
  // A connection that breaks between two statements fails the next one too.
  client.on('error', () => undefined);
  try {
    await client.connect();
    if (Object.keys(settings).length > 0) await applySettings(client, settings);
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

/**
 * Sets these for the session, and makes sure that the session keeps them. Startup parameters would cost no round trip, but
 * poolers refuse or drop them.
 * @throws StartRefused when a pooler gives the next statement another session
 */
export async function applySettings(client: pg.ClientBase, settings: Settings): Promise<void> {
  const names = Object.keys(settings);
  const set = await sessionOf(
    client,
    names.map((name, index) => `set_config('${name}', $${index + 1}, false)`),
    Object.values(settings),
  );
  const kept = await sessionOf(
    client,
    names.map((name) => `current_setting('${name}')`),
  );
  if (set !== kept) throw poolsTransactions(client);
}

/** The server's process behind a connection. A pooler reports a number of its own when the connection is made. */
export async function backendOf(client: pg.ClientBase): Promise<string> {
  return sessionOf(client, []);
}

async function sessionOf(
  client: pg.ClientBase,
  values: string[],
  parameters: string[] = [],
): Promise<string> {
  const { rows } = await client.query<{ session: string }>({
    text: `select concat_ws(' ', pg_backend_pid(), ${[...values, `''`].join(', ')}) as session`,
    values: parameters,
    ...BOUNDED,
  });
  return rows[0]!.session;
}

export function poolsTransactions(client: pg.ClientBase): StartRefused {
  const at = addressOf(client as pg.Client);
  return new StartRefused(
    `A connection pooler answers at ${at} and gives each transaction another session of PostgreSQL (in pgbouncer: pool_mode = transaction). ` +
      'Consigliere needs sessions: set pool_mode = session for its database, or let DATABASE_URL lead to PostgreSQL itself (docs/guides/running.md).',
  );
}
