import { writeFileSync } from 'node:fs';
import pg from 'pg';

/**
 * The service as it is, which counts what it sends to the database and writes the counts, with its processor time, to
 * COUNTS_FILE when it ends. Statements within a function of the database are the database's affair.
 */
const counts = { roundTrips: 0, statements: 0 };

type Query = (this: pg.Client, what: unknown, ...more: unknown[]) => unknown;
const prototype = pg.Client.prototype as unknown as { query: Query };
const { query } = prototype;
prototype.query = function (what, ...more) {
  counts.roundTrips++;
  // A batch is several in one message; anything else is one.
  counts.statements += (what as { statements?: unknown[] }).statements?.length ?? 1;
  return query.call(this, what, ...more);
};

process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  writeFileSync(process.env['COUNTS_FILE']!, JSON.stringify({ ...counts, cpuMs: (user + system) / 1000 }));
});

await import('../src/main.js');
