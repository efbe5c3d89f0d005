import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { COST_CURRENCY, DIRECTIVE_STATUSES, type DirectiveStatus } from '../terms/index.js';
import { type Audience, teamOf } from '../workspaces/index.js';
import { type FigureKind, type Reading, readingOf, type Window } from './kpi-calendar.js';
import type { Sums, WindowSums, WorkspaceMetricsView } from './kpi.dto.js';

export interface Sum {
  n: number;
  amount: number;
}

interface KpiSettings {
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

/** How many of the newest decisions the median is taken of: as telling as all of a month, and never slower. */
const MEDIAN_OF = 1_000;

/** Revenue and signals are counted as in `GET /context`, so that the two never contradict each other. */
const METRICS = /* sql */ `
select
  (select currency from workspaces where workspace_id = $1) as currency,
  (select coalesce(json_object_agg(currency, json_build_object('h24', coalesce(d1.amount, 0), 'd7',
      coalesce(d7.amount, 0), 'd30', d30.amount)), '{}')
    from app.revenue_since($1, $2::timestamptz - interval '30 days') d30
    left join app.revenue_since($1, $2::timestamptz - interval '7 days') d7 using (currency)
    left join app.revenue_since($1, $2::timestamptz - interval '1 day') d1 using (currency)) as revenue,
  coalesce((select n from app.tally_of($1, 'signals') where key = 'scored'), 0) as signals_scored,
  (select coalesce(json_object_agg(status, count), '{}') from (
    select split_part(key, ' ', 1) as status, sum(n) as count from app.tally_of($1, 'directives') group by 1) s)
    as directives,
  json_build_object(
    'pending', (select coalesce(sum(n), 0) from app.tally_of($1, 'approvals')
      where split_part(key, ' ', 1) in ('pending', 'ready')),
    'medianDecisionMs', (select round(percentile_cont(0.5) within group (order by ms)) from (
      select extract(epoch from decided_at - requested_at) * 1000 as ms from approvals
      where workspace_id = $1 and status in ('approved', 'rejected', 'changes_requested')
        and decided_at > $2::timestamptz - interval '30 days'
      order by decided_at desc limit ${MEDIAN_OF}) d),
    'expired', (select coalesce(sum(n), 0) from app.tally_since($1, 'approvals_expired', $2::timestamptz - interval '30 days'))
      + (select count(*) from approvals where workspace_id = $1 and status = 'expired'
        and decided_at > $2::timestamptz - interval '30 days'
        and decided_at < app.next_quarter($2::timestamptz - interval '30 days'))) as approvals,
  (select coalesce(json_object_agg(currency, json_build_object('h24', coalesce(d1.amount, 0), 'd7',
      coalesce(d7.amount, 0), 'd30', d30.amount)), '{}')
    from app.cost_since($1, $2::timestamptz - interval '30 days') d30
    left join app.cost_since($1, $2::timestamptz - interval '7 days') d7 using (currency)
    left join app.cost_since($1, $2::timestamptz - interval '1 day') d1 using (currency)) as cost`;

type SumsByCurrency = Readonly<Record<string, WindowSums>>;

const NOTHING: WindowSums = { h24: 0, d7: 0, d30: 0 };

type Row = Omit<WorkspaceMetricsView, 'directives' | 'revenue' | 'cost'> & {
  directives: Partial<Record<DirectiveStatus, number>>;
  currency: string;
  revenue: SumsByCurrency;
  cost: SumsByCurrency;
};

const NONE = Object.fromEntries(DIRECTIVE_STATUSES.map((status) => [status, 0])) as Record<
  DirectiveStatus,
  number
>;

@Injectable()
export class WorkspaceMetricsReader {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
  ) {}

  async read(scope: Scope): Promise<WorkspaceMetricsView> {
    const values = [scope.workspaceId, new Date(this.clock.now())];
    const [row] = await this.db.read<Row>(scope, METRICS, values);
    const { currency, revenue, cost, directives, ...counted } = row!;
    return {
      ...counted,
      revenue: sumsIn(currency, revenue),
      cost: sumsIn(COST_CURRENCY, cost),
      directives: { ...NONE, ...directives },
    };
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

/** The sums in this currency, the others beside them: no rate of exchange is known here. */
function sumsIn(currency: string, all: SumsByCurrency): Sums {
  const { [currency]: own = NOTHING, ...byCurrency } = all;
  return { currency, ...own, byCurrency };
}
