import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres/embedded-postgres.js';
import { openLoop } from './calls.js';
import { type Process, start } from './processes.js';
import { listenForApprovals } from './ready-drafts.js';
import { machine } from './report.js';
import { Client } from './soak/client.js';
import { brokenChains, drained, findings } from './soak/findings.js';
import { type MailReceiver, startMailReceiver } from './soak/mail-receiver.js';
import { Memory } from './soak/memory.js';
import { Minutes } from './soak/minutes.js';
import { Traffic } from './soak/traffic.js';
import { asOwner, createWorkspaces } from './workspaces.js';

/**
 * The service under a steady load from an empty database, as it is started in production: one process of role `all` with
 * its embedded PostgreSQL, and a mail server on the loopback. `npm run soak -- <minutes>`, 30 unless said. Prints a table
 * of its minutes, then looks whether everything that was accepted was done, once. Ends with 1 when an answer was a 5xx, a
 * directive was not executed, a mail was lost or came twice, work is left over or a chain is broken; times are printed,
 * not judged.
 */

const MINUTES = Number(process.argv[2] ?? 30);
const HAND_INS_PER_SECOND = 30;
const READS_PER_SECOND = 10;
const WORKSPACES = 8;
const MEMORY_EVERY_MS = 5_000;
/** Memory should be level from then on. */
const LEVEL_FROM_MINUTE = Math.min(5, MINUTES / 2);

if (!(MINUTES > 0)) throw new Error(`how many minutes? ${process.argv[2]} is no number of them`);

/** How to end what was started, the last first. */
const ends: (() => Promise<unknown>)[] = [];
const endAll = async () => {
  for (let end = ends.pop(); end; end = ends.pop()) await end();
};
const breakOff = () => void endAll().finally(() => process.exit(130));
process.once('SIGINT', breakOff).once('SIGTERM', breakOff);
try {
  const faults = await main();
  for (const fault of faults) console.log(`FAULT: ${fault}`);
  console.log(faults.length === 0 ? 'no fault' : `${faults.length} faults`);
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  await endAll();
}

/** Starts the service and what it needs; answers what is at fault at the end. */
async function main(): Promise<string[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'consigliere-soak-'));
  ends.push(() => rm(dataDir, { recursive: true, force: true }));
  // The server of PostgreSQL may run as another user.
  await chmod(dataDir, 0o755);
  const mails = await startMailReceiver();
  ends.push(() => mails.close());
  const environment = {
    DATABASE_URL: '',
    DATA_DIR: dataDir,
    PROCESS_ROLE: 'all',
    RATE_LIMIT_STORE: '',
    MODEL_PROVIDER: 'builtin',
    SMTP_URL: mails.url,
  };
  const service = await start('../src/main.js', environment, process.stderr);
  // The server of the service, shared: whoever ends last stops it.
  const server = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  ends.push(
    () => server.stop(),
    () => service.stop(),
  );
  return asOwner(server.url, (owner) => soak(service, owner, mails));
}

/** What is at fault at the end. */
async function soak(service: Process, owner: pg.Client, mails: MailReceiver): Promise<string[]> {
  console.log(
    `${machine()}; ${MINUTES} minutes of ${HAND_INS_PER_SECOND} hand-ins, as many approvals and ${READS_PER_SECOND} reads a second over ${WORKSPACES} workspaces`,
  );
  const workspaces = await createWorkspaces(owner, WORKSPACES);
  const client = new Client(service.url);
  const minutes = new Minutes();
  const traffic = new Traffic(client, workspaces, minutes);
  const memory = new Memory(service.pid);
  await listenForApprovals(owner, (approvalId) => void traffic.changed(approvalId));
  const unforeseen: string[] = [];
  const endMinute = async () => {
    const memoryNow = memory.sample();
    minutes.end({
      'approved so far': traffic.approved,
      rows: await rowsOf(owner),
      'service MB': memoryNow.service,
      'drafting MB': memoryNow.drafting,
    });
  };
  const sampling = setInterval(() => memory.sample(), MEMORY_EVERY_MS);
  let ended = 0;
  // The last minute ends with the last answer.
  const reporting = setInterval(() => {
    if (++ended < MINUTES) endMinute().catch((error: unknown) => unforeseen.push(String(error)));
  }, 60_000);
  await Promise.all([
    openLoop(HAND_INS_PER_SECOND, 60 * MINUTES, (n) => traffic.handIn(n)),
    openLoop(READS_PER_SECOND, 60 * MINUTES, (n) => traffic.read(n)),
  ]);
  clearInterval(reporting);
  clearInterval(sampling);
  await drained(owner);
  await endMinute();

  const { max, maxDrafting, growth } = memory.summary(LEVEL_FROM_MINUTE);
  console.log(
    `\n${traffic.accepted.length} accepted, ${traffic.approved} approved, ${mails.byMessageId.size} mails received`,
  );
  console.log(
    `resident memory at most ${max.toFixed(0)} MB, of the drafting processes ${maxDrafting.toFixed(0)} MB; from minute ${LEVEL_FROM_MINUTE} on it grew by ${growth.toFixed(2)} MB a minute`,
  );
  const refused = minutes.faults.map(({ what, status, body }) => `${what} answered ${status}: ${body}`);
  const faults = [
    ...(minutes.serverFaults > 0 ? [`${minutes.serverFaults} answers of 5xx, or none`] : []),
    ...refused,
    ...unforeseen,
    ...(await findings(owner, traffic.accepted, mails)),
    ...(await brokenChains(client, workspaces)),
  ];
  client.close();
  return faults;
}

/** As the server's own statistics have it. */
async function rowsOf(owner: pg.Client): Promise<number> {
  const { rows } = await owner.query<{ rows: string }>(
    'select sum(n_live_tup) as rows from pg_stat_user_tables',
  );
  return Number(rows[0]!.rows);
}
