import pg from 'pg';
import type { Config } from '../config/config.js';
import { StartRefused } from '../kernel/start-refused.js';
import { BOUNDED, openConnection } from './sessions.js';

/**
 * Which database this is: its server, as initdb named it, and its number there. Both are new where a dump was restored, and the
 * same after a restart, a move of the files and a failover.
 */
const IDENTITY = /* sql */ `
select system_identifier || '-' || (select oid from pg_database where datname = current_database()) as here,
  (select identity from database_identity) as noted
from pg_control_system()`;

const NOTE = /* sql */ `
insert into database_identity (identity) values ($1)
on conflict (is_only_row) do update set identity = excluded.identity, noted_at = now()`;

/** A role may be kept from asking for the server's identity. */
const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * What waits in a restored database may have left since the backup was made, and leaves again from the original if that still
 * runs. So no process works on it until somebody has said so; one that does no work may start, to look first.
 *
 * @returns the start message of a process that does no work
 * @throws StartRefused
 */
export async function assertOriginalDatabase(
  url: string,
  { processRole, restoredDatabase }: Config,
): Promise<string | undefined> {
  const owner = await openConnection(url, 'consigliere start', BOUNDED);
  try {
    const { rows } = await owner.query<{ here: string; noted: string | null }>(IDENTITY);
    const { here, noted } = rows[0]!;
    if (noted === here) return undefined;
    if (noted === null || restoredDatabase === here) {
      await owner.query(NOTE, [here]);
      return undefined;
    }
    if (processRole !== 'api') throw new StartRefused(refusal(here));
    return `This database was restored from a backup, or copied. This process does no work; a worker starts with RESTORED_DATABASE=${here}.`;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === INSUFFICIENT_PRIVILEGE) return undefined;
    throw error;
  } finally {
    await owner.end();
  }
}

function refusal(here: string): string {
  return [
    'This database was restored from a backup, or copied: it is not the one that Consigliere worked on before.',
    'Waiting work may have been sent since the backup was made, and would be sent again.',
    'Make sure that no process of the original runs any more. To look at waiting work, start with PROCESS_ROLE=api, which does no work.',
    `Then start once with RESTORED_DATABASE=${here}, and the work goes on here (docs/guides/backup.md).`,
  ].join('\n');
}
