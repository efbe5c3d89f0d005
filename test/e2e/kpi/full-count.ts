import { type Rows } from './kpi-rows.js';

/** Whose numbers: those of every team and of none, of these teams, or of what belongs to no team. */
export type Whose = 'all' | readonly string[];

/** A tile without what says which number it is. */
interface Counted {
  value: number | null;
  changePercent: number | null;
  sparkline: (number | null)[];
  byCurrency?: Record<string, number>;
}

type CountedTiles = Record<
  'revenueThisWeek' | 'packetsExecuted' | 'approvalsPending' | 'costLast7Days' | 'evalPassRate',
  Counted
>;

/** How a table counts: when each row happened, and what it adds. */
interface Source {
  from: string;
  at: string;
  n: string;
}

const QUARTER_MS = 900_000;

/**
 * The tiles, counted row by row with the calendar of the database: a day holds what its clock shows as that date, however
 * long the day is. Nothing of the program takes part.
 */
export class FullCount {
  constructor(
    private readonly rows: Rows,
    private readonly workspaceId: string,
    private readonly whose: Whose,
  ) {}

  async at(now: number): Promise<CountedTiles> {
    const [workspace] = await this.rows<{ timezone: string; currency: string }>(
      'select timezone, currency from workspaces where workspace_id = $1',
      [this.workspaceId],
    );
    const { timezone: zone, currency } = workspace!;
    const sameTime = await this.sameTimeLastWeek(now, zone);
    const revenue = { from: 'revenue_events', at: 'occurred_at', n: 'amount' };
    const money = (name: string) => ({
      from: `(select workspace_id, team_id, coalesce(started_at, created_at) as at, (cost->>'amount')::numeric as amount,
          cost->>'currency' as currency from directives
        union all select workspace_id, team_id, charged_at, amount, currency from model_charges) ${name}`,
      at: 'at',
      n: 'amount',
    });
    const executed = {
      from: `(select * from work_packets where status in ('executed', 'reverted')) p`,
      at: 'executed_at',
      n: '1',
    };
    const when = { now, zone, sameTime };
    return {
      revenueThisWeek: await this.money(revenue, currency, 'week', when),
      packetsExecuted: await this.flow(executed, 'seven days', when),
      approvalsPending: await this.pending(when),
      costLast7Days: await this.money(money('d'), 'USD', 'seven days', when),
      evalPassRate: await this.evals(when),
    };
  }

  /** The same day and quarter of an hour of the week before, by the clock on the wall. */
  private async sameTimeLastWeek(now: number, zone: string): Promise<number> {
    const [row] = await this.rows<{ at: string }>(
      `select extract(epoch from ($1::timestamptz at time zone $2 - interval '7 days') at time zone $2) * 1000 as at`,
      [new Date(now), zone],
    );
    return Math.floor(Number(row!.at) / QUARTER_MS) * QUARTER_MS;
  }

  private async money(
    source: Source,
    currency: string,
    period: 'week' | 'seven days',
    when: { now: number; zone: string; sameTime: number },
  ): Promise<Counted> {
    const own = await this.flow(
      { ...source, from: `(select * from ${source.from} where currency = '${currency}') own` },
      period,
      when,
    );
    const others = await this.rows<{ currency: string; sum: string }>(
      `select currency, sum(${source.n}) from ${source.from}
       where ${this.mine} and currency <> $3 and ${source.n} <> 0
         and (${source.at} at time zone $2)::date >= ${begin(period)}
         and (${source.at} at time zone $2)::date <= ($4::timestamptz at time zone $2)::date group by 1`,
      [this.workspaceId, when.zone, currency, new Date(when.now)],
    );
    return {
      ...own,
      byCurrency: Object.fromEntries(others.map((each) => [each.currency, Number(each.sum)])),
    };
  }

  /** What happened by day, since the beginning of a period, and in the period before up to the same time. */
  private async flow(
    { from, at, n }: Source,
    period: 'week' | 'seven days',
    { now, zone, sameTime }: { now: number; zone: string; sameTime: number },
  ): Promise<Counted> {
    const sum = (condition: string) => `coalesce(sum(${n}) filter (where ${condition}), 0)`;
    const day = `(${at} at time zone $2)::date`;
    const today = `($4::timestamptz at time zone $2)::date`;
    const [row] = await this.rows<{ value: string; before: string; days: number[] }>(
      `select ${sum(`${day} >= ${begin(period)} and ${day} <= ${today}`)} as value,
         ${sum(`${day} >= ${begin(period)} - 7 and ${at} < $3`)} as before,
         array(select (select coalesce(sum(${n}), 0) from ${from} where ${this.mine} and ${day} = ${today} - 29 + i)
           from generate_series(0, 29) i)::float8[] as days
       from ${from} where ${this.mine}`,
      [this.workspaceId, zone, new Date(sameTime), new Date(now)],
    );
    const [value, before] = [Number(row!.value), Number(row!.before)];
    return { value, changePercent: change(value, before), sparkline: row!.days };
  }

  private async pending({
    zone,
    now,
    sameTime,
  }: {
    now: number;
    zone: string;
    sameTime: number;
  }): Promise<Counted> {
    const open = (at: string) => `(select count(*) from approvals where ${this.mine} and requested_at < ${at}
      and (status = 'pending' or coalesce(decided_at, requested_at) >= ${at}))`;
    const [row] = await this.rows<{ value: string; before: string; days: number[] }>(
      `select (select count(*) from approvals where ${this.mine} and status = 'pending') as value,
         ${open('$3::timestamptz')} as before,
         array(select ${open(`((($4::timestamptz at time zone $2)::date - 28 + i)::timestamp at time zone $2)`)}
           from generate_series(0, 29) i)::float8[] as days`,
      [this.workspaceId, zone, new Date(sameTime), new Date(now)],
    );
    const [value, before] = [Number(row!.value), Number(row!.before)];
    return { value, changePercent: change(value, before), sparkline: row!.days };
  }

  private async evals({ zone, now }: { now: number; zone: string }): Promise<Counted> {
    const day = `(created_at at time zone $2)::date`;
    const today = `($3::timestamptz at time zone $2)::date`;
    const [row] = await this.rows<{ rates: (number | null)[] }>(
      `select array(select (select round(1000.0 * count(*) filter (where passed) / nullif(count(*), 0)) / 10 from eval_runs
           where ${this.mine} and ${day} > ${today} - 60 + i and ${day} <= ${today} - 30 + i)
         from generate_series(0, 30) i)::float8[] as rates`,
      [this.workspaceId, zone, new Date(now)],
    );
    const [before, ...days] = row!.rates;
    const value = days.at(-1)!;
    return { value, changePercent: change(value, before!), sparkline: days };
  }

  private get mine(): string {
    if (this.whose === 'all') return 'workspace_id = $1';
    if (this.whose.length === 0) return 'workspace_id = $1 and team_id is null';
    return `workspace_id = $1 and team_id in (${this.whose.map((team) => `'${team}'`).join(', ')})`;
  }
}

/** The first date of a period, `$4` being now. */
function begin(period: 'week' | 'seven days'): string {
  const now = '($4::timestamptz at time zone $2)';
  return period === 'week' ? `date_trunc('week', ${now})::date` : `(${now}::date - 6)`;
}

function change(value: number | null, before: number | null): number | null {
  if (value === null || before === null || before === 0) return null;
  return Math.round(((value - before) * 1000) / Math.abs(before)) / 10 + 0;
}
