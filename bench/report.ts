import { cpus, loadavg, totalmem } from 'node:os';
import { type ActionFigures, ORDERS, WAITING } from './actions.js';
import { quantile } from './calls.js';
import type { CostFigures } from './costs.js';
import type { DeliveryFigures } from './deliveries.js';
import type { Cost } from './meter.js';
import type { Throughput, Traced } from './several-processes.js';
import type { SimulationFigures } from './simulations.js';
import { CLIENTS, type Comparison, ROUND_MS, ROUNDS } from './load.js';

/** Times of one kind, in milliseconds. */
export type Times = Record<string, number[]>;

export function machine(): string {
  return `${cpus().length} x ${cpus()[0]!.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}`;
}

export function reportComparisons(
  results: Record<string, Comparison>,
  single: Record<string, { ours: number; theirs: number }>,
): void {
  console.log(`\n${CLIENTS} clients, medians of ${ROUNDS} alternating rounds of ${ROUND_MS / 1000} s\n`);
  console.log('| what | service /s | bare /s | ratio | service p50 ms | bare p50 ms |');
  console.log('|---|---:|---:|---:|---:|---:|');
  for (const [what, { ours, theirs }] of Object.entries(results)) {
    const [a, b] = [ours, theirs].map((rounds) => median(rounds.map(({ perSecond }) => perSecond)));
    const [la, lb] = [ours, theirs].map((rounds) => median(rounds.flatMap(({ latencies }) => latencies)));
    console.log(
      `| ${what} | ${a!.toFixed(0)} | ${b!.toFixed(0)} | ${(a! / b!).toFixed(2)} | ${la!.toFixed(1)} | ${lb!.toFixed(1)} |`,
    );
  }
  console.log('\n| one client alone | service p50 ms | bare p50 ms | ratio |\n|---|---:|---:|---:|');
  for (const [route, { ours, theirs }] of Object.entries(single)) {
    console.log(`| ${route} | ${ours.toFixed(2)} | ${theirs.toFixed(2)} | ${(ours / theirs).toFixed(2)} |`);
  }
}

export interface Starts {
  firstMs: number;
  secondMs: number;
  idleMb: number;
  /** Of the command line, and of Node.js with nothing to do. */
  commandMs: { help: number; node: number };
}

export function reportStarts(starts: Starts): void {
  console.log('\n| start | |\n|---|---:|');
  console.log(`| ready, first time | ${(starts.firstMs / 1000).toFixed(2)} s |`);
  console.log(`| ready, after that | ${(starts.secondMs / 1000).toFixed(2)} s |`);
  console.log(`| idle, resident, without the database | ${starts.idleMb.toFixed(0)} MB |`);
  const { help, node } = starts.commandMs;
  console.log(
    `| first output of consigliere --help (of Node.js alone) | ${help.toFixed(0)} ms (${node.toFixed(0)}) |`,
  );
}

export function reportDeliveries({ commitToBytes, perSecond, lateness }: DeliveryFigures): void {
  console.log('\n| deliveries | p50 | p99 |\n|---|---:|---:|');
  console.log(
    `| from the COMMIT to the last byte, idle, ms | ${commitToBytes.p50.toFixed(1)} | ${commitToBytes.p99.toFixed(1)} |`,
  );
  for (const [wait, { least, p99 }] of Object.entries(lateness)) {
    console.log(`| late after a wait of ${wait}, ms (least ${least.toFixed(1)}) | | ${p99.toFixed(1)} |`);
  }
  reportRates('deliveries per second', {
    'one destination': perSecond.one,
    'eight destinations': perSecond.eight,
  });
}

export function reportActions({ alone, heard, held, cpuMsWaiting }: ActionFigures): void {
  reportTimes(`action requests, ${ORDERS} active orders, one at a time`, {
    'asked, and allowed by an order': alone.allowed,
    'a bare handler that writes the same rows': alone.bare,
    'asked, allowed and consumed at once': alone.allowedAndConsumed,
    consumed: alone.consume,
    'result told': alone.result,
    'from the COMMIT of a decision until the agent that waits has its answer': heard.one,
    [`the same with ${WAITING} that wait with one token`]: heard.all,
  });
  const ratio = (quantile(alone.allowed, 0.5) / quantile(alone.bare, 0.5)).toFixed(2);
  console.log(`\nThe p50 of a request that is allowed is ${ratio} times that of the bare handler.`);
  const most = Math.max(...heard.one).toFixed(1);
  const mostOfAll = Math.max(...heard.all).toFixed(1);
  console.log(`\nThe last heard after ${most} ms, of ${WAITING} at once after ${mostOfAll} ms; load average`);
  console.log(
    loadavg()
      .map((load) => load.toFixed(1))
      .join(', '),
  );
  console.log(
    `A second in which they all wait costs the service ${cpuMsWaiting.toFixed(0)} ms of processor time.`,
  );
  console.log('\n| the service | resident MB | sockets | database connections |\n|---|---:|---:|---:|');
  for (const [when, { residentMb, sockets, databaseConnections }] of Object.entries(held)) {
    console.log(`| ${when} | ${residentMb.toFixed(0)} | ${sockets} | ${databaseConnections} |`);
  }
}

export function reportSimulations(figures: readonly SimulationFigures[]): void {
  console.log(
    '\n| simulation | decisions | s | CPU s of the service | MB before | MB at most | slowest other request ms |',
  );
  console.log('|---|---:|---:|---:|---:|---:|---:|');
  for (const { draft, decisions, seconds, cpuSeconds, beforeMb, peakMb, slowestOtherMs } of figures) {
    console.log(
      `| ${draft} | ${decisions} | ${seconds.toFixed(2)} | ${cpuSeconds.toFixed(2)} | ${beforeMb.toFixed(0)} | ${peakMb.toFixed(0)} | ${slowestOtherMs.toFixed(0)} |`,
    );
  }
}

/** Two measurements of each: their mean, and by how much the second differs from the first. */
export function reportCosts({ acts, idle, receiptsADay }: CostFigures): void {
  const columns: [string, (cost: Cost) => number, number][] = [
    ['round trips', (cost) => cost.roundTrips, 1],
    ['statements', (cost) => cost.statements, 1],
    ['rows in', (cost) => cost.inserted, 1],
    ['upd.', (cost) => cost.updated, 1],
    ['del.', (cost) => cost.deleted, 1],
    ['WAL kB', (cost) => cost.walBytes / 1_000, 1],
    ['blocks', (cost) => cost.blocks, 0],
    ['CPU ms service', (cost) => cost.serviceCpuMs, 2],
    ['CPU ms database', (cost) => cost.databaseCpuMs, 2],
  ];
  const line = (what: string, costs: readonly Cost[]) => {
    const cells = columns.map(([, of, digits]) => {
      const [first, second] = costs.map(of) as [number, number];
      return `${((first + second) / 2).toFixed(digits)} ±${(Math.abs(first - second) / 2).toFixed(digits)}`;
    });
    console.log(`| ${what} | ${cells.join(' | ')} |`);
  };
  console.log(`\n| one of each | ${columns.map(([name]) => name).join(' | ')} |`);
  console.log(`|---|${'---:|'.repeat(columns.length)}`);
  for (const [what, costs] of Object.entries(acts)) line(what, costs);
  for (const [role, costs] of Object.entries(idle)) line(`a second of an idle process, role ${role}`, costs);
  console.log(`\nThe day of a report has ${receiptsADay.toFixed(0)} receipts.`);
}

/** Medians of the rounds, against those of one process. */
export function reportProcesses(figures: readonly Throughput[]): void {
  const [one] = figures as [Throughput];
  console.log(
    `\nMedians of ${one.handIns.length} alternating rounds; the load generator, the processes and the database share`,
  );
  console.log(`${cpus().length} cores.\n`);
  console.log('| processes | hand-ins /s | against one | from hand-in to sent mail /s | against one |');
  console.log('|---:|---:|---:|---:|---:|');
  for (const { processes, handIns, jobs } of figures) {
    const cells = [
      [handIns, one.handIns],
      [jobs, one.jobs],
    ].map(([ours, ofOne]) => {
      const [rate, base] = [median(ours!), median(ofOne!)];
      return `${rate.toFixed(0)} | ${(rate / base).toFixed(2)}`;
    });
    console.log(`| ${processes} | ${cells.join(' | ')} |`);
  }
}

export function reportTracing({ without, withCollector, batches }: Traced): void {
  const [off, on] = [median(without), median(withCollector)];
  console.log(
    `\nMedians of ${without.length} rounds that take turns; the collector was called ${batches} times.\n`,
  );
  console.log('| one process | hand-ins /s | against none |');
  console.log('|---|---:|---:|');
  console.log(`| without a collector | ${off.toFixed(0)} | 1.00 |`);
  console.log(`| with a collector | ${on.toFixed(0)} | ${(on / off).toFixed(3)} |`);
}

export function reportTimes(title: string, times: Times): void {
  console.log(`\n| ${title} | p50 ms | p99 ms | times |\n|---|---:|---:|---:|`);
  for (const [what, each] of Object.entries(times)) {
    console.log(
      `| ${what} | ${quantile(each, 0.5).toFixed(2)} | ${quantile(each, 0.99).toFixed(2)} | ${each.length} |`,
    );
  }
}

export function reportRates(title: string, rates: Record<string, number>): void {
  console.log(`\n| ${title} | |\n|---|---:|`);
  for (const [what, rate] of Object.entries(rates)) console.log(`| ${what} | ${rate.toFixed(0)} |`);
}

function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}
