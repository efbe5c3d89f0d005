import type { Statement } from './batch.js';

/** As PostgreSQL writes it: `00000001` and `3/4A0DF00`. */
export interface WalPosition {
  timeline: string;
  lsn: string | null;
}

/** Behind a COMMIT in its message: at least where it ends, whatever `synchronous_commit` is. */
export const COMMITTED: Statement = {
  text: `select left(pg_walfile_name(lsn), 8) as timeline, lsn::text as lsn from pg_current_wal_insert_lsn() as lsn`,
};

/** The position in 24 hexadecimal digits, which compare as text; undefined without one. */
export function positionIn([row]: WalPosition[]): string | undefined {
  if (!row?.lsn) return undefined;
  const digits = row.lsn.split('/').map((part) => part.padStart(8, '0'));
  return row.timeline + digits.join('');
}
