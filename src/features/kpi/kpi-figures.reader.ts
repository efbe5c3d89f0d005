import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { type Audience, teamOf } from '../workspaces/index.js';
import { type FigureKind, type Reading, readingOf, type Window } from './kpi-calendar.js';

export interface Sum {
  n: number;
  amount: number;
}

export interface KpiSettings {
  timezone: string;
  currency: string;
}

interface FigureRow extends Sum {
  /** The window, counted from one; zero are the approvals that wait now. */
  number: number;
  key: string;
}

/** Sums by window and key: the currency of an amount, else nothing. */
export class Figures {
  readonly #sums = new Map<string, Map<string, Sum>>();
  /** Approvals that wait now. */
  readonly waiting: number;

  constructor(windows: readonly Window[], rows: readonly FigureRow[]) {
    this.waiting = rows.find(({ number }) => number === 0)!.n;
    for (const { number, key, n, amount } of rows) {
      if (number === 0) continue;
      const { kind, name } = windows[number - 1]!;
      const place = `${kind} ${name}`;
      const sums = this.#sums.get(place) ?? new Map<string, Sum>();
      this.#sums.set(place, sums.set(key, { n, amount }));
    }
  }

  of(kind: FigureKind, name: string, key = ''): Sum {
    return this.byKey(kind, name).get(key) ?? { n: 0, amount: 0 };
  }

  byKey(kind: FigureKind, name: string): ReadonlyMap<string, Sum> {
    return this.#sums.get(`${kind} ${name}`) ?? new Map<string, Sum>();
  }
}

const SETTINGS = /* sql */ `
select app.workspace_zone(workspace_id) as timezone, currency from workspaces where workspace_id = $1`;

/**
 * One statement, and so one moment. Row-level security shows each reader the tallies of their teams; of the whole workspace
 * those that have been added up over all teams are read. Each kind is one stretch of the index: a look-up for each day of it took
 * three times as long.
 */
const SUMS = /* sql */ `
with kinds as (
  select kind, since, number from unnest($2::text[], $3::timestamptz[]) with ordinality as k (kind, since, number)
), spans as (
  select k.number, f.key, width_bucket(f.bucket, $4::timestamptz[]) as span, sum(f.n) as n, sum(f.amount) as amount
  from kinds k cross join lateral (
    select key, bucket, n, amount from tallies
    where workspace_id = $1 and kind = k.kind and team_id = any ($9::text[]) and bucket >= k.since and bucket < $5
    union all
    select key, bucket, n, amount from tally_changes
    where workspace_id = $1 and kind = k.kind and ('*' = any ($9) or coalesce(team_id, '') = any ($9))
      and bucket >= k.since and bucket < $5
  ) f group by 1, 3, 2
)
select w.number, s.key, sum(s.n) as n, sum(s.amount) as amount
from unnest($6::int[], $7::int[], $8::int[]) with ordinality as w (kind, first, "end", number)
  join spans s on s.number = w.kind and s.span >= w.first and s.span < w."end"
group by 1, 2
union all
select 0, '', coalesce(sum(n), 0), 0 from app.tally_of($1, 'approvals', $10)
where split_part(key, ' ', 1) in ('pending', 'ready')`;

@Injectable()
export class KpiFiguresReader {
  constructor(private readonly db: Db) {}

  /** What decides which days are meant, and in which currency sums are told. */
  async settings(scope: Scope): Promise<KpiSettings> {
    const [row] = await this.db.read<KpiSettings>(scope, SETTINGS, [scope.workspaceId]);
    return row!;
  }

  /** The sums over each window, of an audience within the scope. */
  async read(scope: Scope, audience: Audience, windows: readonly Window[]): Promise<Figures> {
    const teams = audience === 'all' ? ['*'] : audience.length === 0 ? [''] : audience;
    const values = [scope.workspaceId, ...valuesOf(readingOf(windows)), teams, teamOf(audience)];
    return new Figures(windows, await this.db.read<FigureRow>(scope, SUMS, values));
  }
}

function valuesOf({ borders, kinds, stretches }: Reading): unknown[] {
  const times = (each: readonly number[]) => each.map((at) => new Date(at));
  const numberOf = new Map(kinds.map(({ kind }, index) => [kind, index + 1]));
  return [
    kinds.map(({ kind }) => kind),
    times(kinds.map(({ since }) => since)),
    times(borders),
    new Date(borders.at(-1)!),
    stretches.map(({ kind }) => numberOf.get(kind)),
    stretches.map(({ first }) => first),
    stretches.map(({ end }) => end),
  ];
}
