import pg from 'pg';
import { announceWait } from '../kernel/announce-wait.js';
import { StartRefused } from '../kernel/start-refused.js';
import { addressOf } from './database-fault.js';
import { backendOf, BOUNDED, openConnection, poolsTransactions } from './sessions.js';

const OLDEST_VERSION = 15;

/** So often the first connection is asked which session it has, since other clients of a pooler may come in between. */
const LOOKS = 3;

/**
 * Logs in as the user of DATABASE_URL, with an end to waiting, before anything is asked of the database.
 * @throws StartRefused for a server that is too old, and for a pooler that keeps no sessions; what the driver says otherwise is
 * explained by `databaseFault`
 */
export async function assertDatabase(url: string, log: (message: string) => void): Promise<void> {
  const at = addressOf(new pg.Client({ connectionString: url }));
  await announceWait(`PostgreSQL at ${at} to answer`, log, () => assertServer(url));
}

async function assertServer(url: string): Promise<void> {
  const first = await openConnection(url, 'consigliere start', BOUNDED);
  try {
    const { rows } = await first.query<{ version: string }>('show server_version');
    const { version } = rows[0]!;
    if (parseInt(version, 10) < OLDEST_VERSION)
      throw new StartRefused(
        `The PostgreSQL server of DATABASE_URL is version ${version}, and Consigliere needs ${OLDEST_VERSION} or newer. Upgrade it, or use another server.`,
      );
    await assertSessions(url, first);
  } finally {
    await first.end().catch(() => undefined);
  }
}

/**
 * Two connections must have a session each. A lock that is taken in a session which the pooler then gives to somebody else is
 * never released, and a role that is set there is somebody else's.
 */
async function assertSessions(url: string, first: pg.Client): Promise<void> {
  const own = await backendOf(first);
  const second = await openConnection(url, 'consigliere start', BOUNDED);
  try {
    await second.query('begin');
    if ((await backendOf(second)) === own) throw poolsTransactions(first);
    // While the second is in a transaction, a pooler may have to give the first another session.
    for (let looks = 0; looks < LOOKS; looks++)
      if ((await backendOf(first)) !== own) throw poolsTransactions(first);
  } finally {
    await second.end().catch(() => undefined);
  }
}
