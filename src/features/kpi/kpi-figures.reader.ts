import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { type FigureKind, type Reading, readingOf, type Window } from './kpi-windows.js';

export interface Sum {
  n: number;
  amount: number;
}

export interface KpiSettings {
  timezone: string;
  currency: string;
  hasTeam: boolean;
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
select timezone, currency,
  $2::text is null or exists (select from teams where workspace_id = $1 and team_id = $2) as has_team
from workspaces where workspace_id = $1`;

/**
 * One statement, and so one moment. Row-level security shows each reader the figures of their teams; of the whole workspace
 * those that have been added up over all teams are read. Each piece is one stretch of the index.
 */
const sumsOf = (figuresOf: string, changesOf: string) => /* sql */ `
with spans as (
  select p.kind, p.span, f.key, f.n, f.amount
  from unnest($2::text[], $3::int[], $4::smallint[], $5::timestamptz[], $6::timestamptz[])
      as p (kind, span, minutes, since, until)
    cross join lateral (
      select key, sum(n) as n, sum(amount) as amount from kpi_figures
      where workspace_id = $1 and ${figuresOf} and kind = p.kind and minutes = p.minutes
        and bucket >= p.since and bucket < p.until
      group by key) f
  union all
  select kind, width_bucket(bucket, $7::timestamptz[]), key, n, amount from tally_changes
  where workspace_id = $1 and ${changesOf} and kind = any ($2::text[])
)
select w.number, s.key, sum(s.n) as n, sum(s.amount) as amount
from unnest($8::text[], $9::int[], $10::int[]) with ordinality as w (kind, first, "end", number)
  join spans s on s.kind = w.kind and s.span >= w.first and s.span < w."end"
group by 1, 2
union all
select 0, '', coalesce(sum(n), 0), 0 from app.tally_of($1, 'approvals', $11)
where split_part(key, ' ', 1) in ('pending', 'ready')`;

const OF_WORKSPACE = sumsOf(`team_id = '*'`, 'true');
const OF_NO_TEAM = sumsOf('team_id is null', 'team_id is null');
const OF_TEAMS = sumsOf('team_id = any ($12::text[])', 'team_id = any ($12::text[])');

@Injectable()
export class KpiFiguresReader {
  constructor(private readonly db: Db) {}

  /** What decides which days are meant; and whether there is such a team. */
  async settings(scope: Scope, teamId: string | null): Promise<KpiSettings> {
    const [row] = await this.db.read<KpiSettings>(scope, SETTINGS, [scope.workspaceId, teamId]);
    return row!;
  }

  /** The sums over each window; of one team, or of all that the scope shows. */
  async read(scope: Scope, teamId: string | null, windows: readonly Window[]): Promise<Figures> {
    const teams = teamId === null ? scope.teamIds : [teamId];
    const values = [scope.workspaceId, ...valuesOf(readingOf(windows)), teamId];
    const [text, also] =
      teams === 'all' ? [OF_WORKSPACE, []] : teams.length === 0 ? [OF_NO_TEAM, []] : [OF_TEAMS, [teams]];
    return new Figures(windows, await this.db.read<FigureRow>(scope, text, [...values, ...also]));
  }
}

function valuesOf({ borders, pieces, windows }: Reading): unknown[] {
  return [
    pieces.map(({ kind }) => kind),
    pieces.map(({ span }) => span),
    pieces.map(({ minutes }) => minutes),
    pieces.map(({ from }) => new Date(from)),
    pieces.map(({ to }) => new Date(to)),
    borders.map((at) => new Date(at)),
    windows.map(({ kind }) => kind),
    windows.map(({ first }) => first),
    windows.map(({ end }) => end),
  ];
}
