import { globSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { start } from './processes.js';

/** What something cost, in the service and in the database. */
export interface Cost {
  seconds: number;
  roundTrips: number;
  statements: number;
  inserted: number;
  updated: number;
  deleted: number;
  walBytes: number;
  /** Blocks of 8 kB that were looked at, in memory or not. */
  blocks: number;
  serviceCpuMs: number;
  databaseCpuMs: number;
}

/** What the server has counted since it was started. */
type Counted = Omit<Cost, 'roundTrips' | 'statements' | 'serviceCpuMs'>;

const COUNTED = /* sql */ `
select (pg_current_wal_insert_lsn() - '0/0')::float8 as wal_bytes, d.blks_hit + d.blks_read as blocks, t.*
from pg_stat_database d, (
  select sum(n_tup_ins) as inserted, sum(n_tup_upd) as updated, sum(n_tup_del) as deleted from pg_stat_user_tables
) t
where d.datname = current_database()`;

const MS_OF_A_TICK = 10;

/**
 * Measures a process of the service from its start to its end, since a backend of PostgreSQL says what it has counted when
 * it ends at the latest. What a start costs goes out where two runs of different sizes are subtracted.
 */
export class Meter {
  constructor(
    private readonly owner: pg.Client,
    private readonly environment: Record<string, string>,
    private readonly countsFile: string,
  ) {}

  /** Starts a process of this role, and ends it when `work` has; `url` is its own. */
  async of(role: 'api' | 'worker', work: (url: string) => Promise<void>): Promise<Cost> {
    const before = await this.counted();
    const service = await start('counted-service.js', {
      ...this.environment,
      PROCESS_ROLE: role,
      RATE_LIMIT_STORE: 'memory',
      COUNTS_FILE: this.countsFile,
    });
    const began = performance.now();
    let seconds: number;
    try {
      await work(service.url);
      // What acts have noted is added up within two seconds, which belongs to them.
      await this.until('select not exists (select from tally_changes) as is_so');
      seconds = (performance.now() - began) / 1000;
    } finally {
      await service.stop();
    }
    const after = await this.counted();
    const sent = JSON.parse(readFileSync(this.countsFile, 'utf8')) as {
      roundTrips: number;
      statements: number;
      cpuMs: number;
    };
    return {
      seconds,
      roundTrips: sent.roundTrips,
      statements: sent.statements,
      inserted: after.inserted - before.inserted,
      updated: after.updated - before.updated,
      deleted: after.deleted - before.deleted,
      walBytes: after.walBytes - before.walBytes,
      blocks: after.blocks - before.blocks,
      serviceCpuMs: sent.cpuMs,
      databaseCpuMs: after.databaseCpuMs - before.databaseCpuMs,
    };
  }

  /** Looks until the statement answers that it is so. */
  async until(isSo: string, values: unknown[] = []): Promise<void> {
    const end = performance.now() + 120_000;
    while (!(await this.owner.query<{ is_so: boolean }>(isSo, values)).rows[0]!.is_so) {
      if (performance.now() > end) throw new Error(`not within two minutes: ${isSo}`);
      await pause(100);
    }
  }

  private async counted(): Promise<Counted> {
    await this.until(
      `select not exists (select from pg_stat_activity
         where datname = current_database() and application_name like 'consigliere%') as is_so`,
    );
    await this.owner.query('select pg_stat_force_next_flush()');
    const { rows } = await this.owner.query<Record<string, string>>(COUNTED);
    const numbers = Object.entries(rows[0]!).map(([name, value]) => [name, Number(value)] as const);
    const { wal_bytes: walBytes, ...others } = Object.fromEntries(numbers);
    const pid = (this.owner as unknown as { processID: number }).processID;
    return { ...others, walBytes, seconds: 0, databaseCpuMs: cpuMsOfServer(pid) } as Counted;
  }
}

/** Processor time of the whole server so far: its processes that run, and those that have ended. */
function cpuMsOfServer(backend: number): number {
  const postmaster = statOf(`/proc/${backend}/stat`)!.parent;
  let ticks = 0;
  for (const path of globSync('/proc/[0-9]*/stat')) {
    const stat = statOf(path);
    if (stat?.pid === postmaster) ticks += stat.own + stat.ofEnded;
    else if (stat?.parent === postmaster) ticks += stat.own;
  }
  return ticks * MS_OF_A_TICK;
}

/** proc_pid_stat(5); undefined for a process that has ended meanwhile. */
function statOf(path: string): { pid: number; parent: number; own: number; ofEnded: number } | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
  // The name of the program stands in parentheses, and may contain anything.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [parent, user, system, endedUser, endedSystem] = [1, 11, 12, 13, 14].map((index) => fields[index]!);
  return {
    pid: parseInt(text, 10),
    parent: parent!,
    own: user! + system!,
    ofEnded: endedUser! + endedSystem!,
  };
}
