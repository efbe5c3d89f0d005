import { cpus, totalmem } from 'node:os';
import { quantile } from './calls.js';
import type { DeliveryFigures } from './deliveries.js';
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

export function reportStarts(starts: { firstMs: number; secondMs: number; idleMb: number }): void {
  console.log('\n| start | |\n|---|---:|');
  console.log(`| ready, first time | ${(starts.firstMs / 1000).toFixed(2)} s |`);
  console.log(`| ready, after that | ${(starts.secondMs / 1000).toFixed(2)} s |`);
  console.log(`| idle, resident, without the database | ${starts.idleMb.toFixed(0)} MB |`);
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
