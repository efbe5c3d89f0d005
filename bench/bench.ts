import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres/embedded-postgres.js';
import { measureActions } from './actions.js';
import { measureApprovals } from './approvals.js';
import { measureAuditPages } from './audit-pages.js';
import { quantile } from './calls.js';
import { measureCosts } from './costs.js';
import { measureDecisions, USES } from './decisions.js';
import { measureDeliveries } from './deliveries.js';
import { measureDrafts } from './drafts.js';
import { measureHandIns } from './hand-ins.js';
import { measureKills, measureKillsOverWaiting, RACING } from './kill.js';
import { LARGER, measureKpi } from './kpi.js';
import { measureExports } from './long-export.js';
import { measureProxy } from './mcp-proxy.js';
import { start } from './processes.js';
import {
  machine,
  reportActions,
  reportComparisons,
  reportCosts,
  reportDeliveries,
  reportProcesses,
  reportRates,
  reportSimulations,
  reportStarts,
  reportTimes,
  reportTracing,
  type Starts,
  type Times,
} from './report.js';
import { measurePreflights } from './preflights.js';
import { measureProcesses, measureTracing } from './several-processes.js';
import { measureSimulations } from './simulations.js';
import { measureSignIns } from './sign-ins.js';
import { isQuick, wants } from './size.js';
import { FLOOD, measureLooks, measureWork } from './work.js';
import { asOwner, createWorkspaces } from './workspaces.js';

/**
 * Measures the service: hand-ins and the context against bare handlers over the same database, and what it does by itself.
 * The ratios are the result; the figures say on what machine. `npm run bench -- <part> ...` runs these parts alone, of
 * starts, hand-ins, drafts, preflights, actions, proxy, sign-ins, work, looks, deliveries, approvals, audit, decisions, kill,
 * kill-waiting, kpi, costs, processes, tracing, simulations, exports and growth; `--quick` runs everything in short.
 */

/** The full size of `growth` takes long: `node dist/bench/growth.js 500000`. */
const GROWTH_ROWS = isQuick ? 2_000 : 20_000;

/** What the server does in the background by itself would be counted as the cost of whatever is measured meanwhile. */
const UNDISTURBED = { autovacuum: 'off', checkpoint_timeout: '1h', max_wal_size: '16GB' };

const dataDir = await mkdtemp(join(tmpdir(), 'consigliere-bench-'));
await chmod(dataDir, 0o755);
try {
  await main();
} finally {
  await rm(dataDir, { recursive: true, force: true });
}

async function main(): Promise<void> {
  console.log(machine());
  if (wants('starts')) reportStarts(await measureStarts());
  if (wants('hand-ins')) {
    await withDatabase('hand-ins', async (environment) => {
      const { compared, single } = await measureHandIns(environment);
      reportComparisons(compared, single);
    });
  }
  if (wants('drafts')) {
    await withDatabase('drafts', async (environment) => {
      reportTimes('one process of role all', {
        'from hand-in to ready draft, 50 a second, 16 workspaces': await measureDrafts(environment),
      });
    });
  }
  if (wants('preflights')) await withDatabase('preflights', measureAndReportPreflights);
  if (wants('actions')) {
    await withDatabase('actions', async (environment) => reportActions(await measureActions(environment)));
  }
  if (wants('proxy')) await withDatabase('proxy', measureAndReportProxy);
  if (wants('sign-ins')) await withDatabase('sign-ins', measureAndReportSignIns);
  if (wants('work')) await withDatabase('work', measureAndReportWork);
  if (wants('looks')) {
    await withDatabase('looks', async (environment) => {
      const { each, all } = await measureLooks(environment);
      reportAgainstFirst('a look for due work, each second', each);
      reportAgainstFirst('the same at all that is due, once a minute', all);
    });
  }
  if (['deliveries', 'approvals', 'audit'].some(wants)) await withDatabase('rest', measureRest);
  if (wants('decisions')) await withDatabase('decisions', measureAndReportDecisions);
  if (wants('kill')) await withDatabase('kill', measureAndReportKills);
  if (wants('kill-waiting')) {
    await withDatabase('kill-waiting', async (environment) =>
      reportAgainstFirst(
        'kill switch, from the request to its answer',
        await measureKillsOverWaiting(environment),
      ),
    );
  }
  if (wants('kpi')) await withDatabase('kpi', measureAndReportKpi);
  if (wants('costs')) {
    await withDatabase(
      'costs',
      async (environment) => reportCosts(await measureCosts(environment)),
      UNDISTURBED,
    );
  }
  if (wants('processes')) {
    await withDatabase('processes', async (environment) =>
      reportProcesses(await measureProcesses(environment)),
    );
  }
  if (wants('tracing')) {
    await withDatabase('tracing', async (environment) => reportTracing(await measureTracing(environment)));
  }
  if (wants('simulations')) {
    await withDatabase('simulations', async (environment) => {
      const [small, large] = await asOwner(environment['DATABASE_URL']!, (owner) =>
        createWorkspaces(owner, 2),
      );
      reportSimulations(await measureSimulations(environment, [small!, large!]));
    });
  }
  if (wants('exports')) {
    await withDatabase('exports', async (environment) => console.table(await measureExports(environment)));
  }
  if (wants('growth')) await measureGrowth();
}

async function measureAndReportPreflights(environment: Record<string, string>): Promise<void> {
  const { ours, theirs, ofDirectives } = await measurePreflights(environment);
  reportTimes('preflight, 200 active orders, one at a time', {
    'an action': ours,
    'a bare handler that reads the same': theirs,
    'a directive': ofDirectives,
  });
  const ratio = quantile(ours, 0.5) / quantile(theirs, 0.5);
  console.log(`\nThe p50 of a preflight of an action is ${ratio.toFixed(2)} times that of the bare handler.`);
}

async function measureAndReportProxy(environment: Record<string, string>): Promise<void> {
  const { direct, proxied, asked } = await measureProxy(environment);
  reportTimes('a call of a tool of an MCP server', {
    direct,
    'by way of the proxy, allowed by an order': proxied,
    'the request to the service alone': asked,
  });
  const added = quantile(proxied, 0.5) - quantile(direct, 0.5);
  console.log(`\nThe proxy adds ${added.toFixed(1)} ms at the p50.`);
}

async function measureAndReportWork(environment: Record<string, string>): Promise<void> {
  const { pickUp, lateness, perSecond } = await measureWork(environment);
  reportTimes('work, one process of role all', {
    'picked up after the COMMIT, idle': pickUp.idle,
    [`picked up beside a workspace with ${FLOOD} due`]: pickUp.beside,
    'late after a wait of 1 s': lateness['1 s'],
    'late after a wait of 10 s': lateness['10 s'],
  });
  reportRates('items per second', {
    'one workspace': perSecond.one,
    'sixteen workspaces': perSecond.sixteen,
  });
}

async function measureAndReportSignIns(environment: Record<string, string>): Promise<void> {
  const { perSecond, context } = await measureSignIns(environment);
  reportRates('sign-ins per second, 16 clients', { 'by password': perSecond });
  reportTimes('GET /context, 20 a second', context);
  const [alone, beside] = Object.values(context).map((times) => quantile(times, 0.99));
  console.log(
    `\nThe p99 of /context beside them is ${(beside! / alone!).toFixed(2)} times what it is alone.`,
  );
}

async function measureAndReportDecisions(environment: Record<string, string>): Promise<void> {
  const after = (uses: number) => `after ${uses.toLocaleString('en')} recorded uses`;
  for (const { matching, few, many } of await measureDecisions(environment)) {
    reportTimes(`decision of a work packet, 200 active orders, of which ${matching} match`, {
      [after(USES[0])]: few,
      [after(USES[1])]: many,
    });
    const ratio = quantile(many, 0.5) / quantile(few, 0.5);
    console.log(`\nThe p50 with more uses is ${ratio.toFixed(2)} times the other.`);
  }
}

async function measureAndReportKills(environment: Record<string, string>): Promise<void> {
  const { toCommit, toStop, dispatchesAfter, inReceipts } = await measureKills(environment);
  reportTimes(`kill switch, three processes, ${RACING.toLocaleString('en')} work packets racing`, {
    'from the request to the COMMIT': toCommit,
    'from the COMMIT until nothing is under way in any process': toStop,
  });
  reportRates('after the COMMIT', {
    'dispatches that began, by the database': dispatchesAfter,
    'dispatches that began, by the receipts': inReceipts,
  });
}

/** With how many times the first each of the others takes. */
function reportAgainstFirst(title: string, times: Times): void {
  reportTimes(title, times);
  const [first, ...others] = Object.values(times).map((each) => quantile(each, 0.5));
  const ratios = others.map((median) => (median / first!).toFixed(2)).join(', ');
  console.log(`\nThe p50 of the others is ${ratios} times that of the first.`);
}

async function measureAndReportKpi(environment: Record<string, string>): Promise<void> {
  for (const [what, { middle, larger }] of Object.entries(await measureKpi(environment))) {
    reportTimes(what, { 'a mid-sized workspace': middle, [`one ${LARGER} times as large`]: larger });
    const ratio = (q: number) => (quantile(larger, q) / quantile(middle, q)).toFixed(2);
    console.log(
      `\nIn the larger one the p50 is ${ratio(0.5)} times that in the other, the p99 ${ratio(0.99)} times.`,
    );
  }
}

/** Here workers work, and find nothing to do but what is measured. */
async function measureRest(environment: Record<string, string>): Promise<void> {
  const [one, two, three] = (
    await asOwner(environment['DATABASE_URL']!, (owner) => createWorkspaces(owner, 3))
  ).map(({ token }) => token) as [string, string, string];
  if (wants('deliveries')) reportDeliveries(await measureDeliveries(environment, one));
  if (wants('approvals')) {
    reportTimes('one at a time', {
      'POST /approvals/{id}/approve': await measureApprovals(environment, two),
    });
  }
  if (wants('audit')) {
    reportTimes('audit page of 50 in a long chain', await measureAuditPages(environment, three));
  }
}

/** A migrated server of its own for `work`, and the environment of a service that uses it. */
async function withDatabase(
  name: string,
  work: (environment: Record<string, string>) => Promise<void>,
  settings: Record<string, string> = {},
): Promise<void> {
  const server = await startEmbeddedPostgres({
    dataDir: join(dataDir, name),
    // For the time from a COMMIT to its delivery.
    settings: { track_commit_timestamp: 'on', ...settings },
    log: () => undefined,
  });
  const breakOff = () => void server.stop().then(() => process.exit(130));
  process.on('SIGINT', breakOff).on('SIGTERM', breakOff);
  try {
    const environment = {
      DATABASE_URL: server.url,
      DATA_DIR: join(dataDir, name),
      BOOTSTRAP_TIER: 'enterprise',
    };
    const first = await start('../src/main.js', environment);
    await first.stop();
    await work(environment);
  } finally {
    process.off('SIGINT', breakOff).off('SIGTERM', breakOff);
    await server.stop();
  }
}

/** First start (with initdb and migrations), second start, and what it holds when idle. */
async function measureStarts(): Promise<Starts> {
  const environment = { DATABASE_URL: '', DATA_DIR: join(dataDir, 'start') };
  const first = await start('../src/main.js', environment);
  await first.stop();
  const second = await start('../src/main.js', environment);
  await pause(5_000);
  const idleMb = second.residentMb();
  await second.stop();
  const commandMs = await measureCommand();
  return { firstMs: first.readyMs, secondMs: second.readyMs, idleMb, commandMs };
}

/** How long a person waits for the first output of the command line, beside that of Node.js itself: the median of each. */
async function measureCommand(): Promise<Starts['commandMs']> {
  const command = join(import.meta.dirname, '../../clients/cli/bin.js');
  const took = async (...args: string[]) => {
    const times: number[] = [];
    for (let n = 0; n < 15; n++) {
      const began = performance.now();
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = once(child, 'exit');
      await once(child.stdout, 'data');
      times.push(performance.now() - began);
      await ended;
    }
    return quantile(times, 0.5);
  };
  return { node: await took('-e', 'console.log()'), help: await took(command, '--help') };
}

/** Prints its own table. */
async function measureGrowth(): Promise<void> {
  console.log();
  const file = join(import.meta.dirname, 'growth.js');
  const child = spawn(process.execPath, [file, String(GROWTH_ROWS)], { stdio: 'inherit' });
  const stop = () => child.kill('SIGTERM');
  process.once('exit', stop);
  const [code] = await once(child, 'exit');
  process.off('exit', stop);
  if (code !== 0) throw new Error(`growth.js ended with ${String(code)}`);
}
