import { Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { COST_CURRENCY } from '../terms/index.js';
import { NO_ACTIONS } from '../verifier/index.js';
import { Audiences, teamOf } from '../workspaces/index.js';
import {
  type FigureKind,
  type KpiCalendar,
  kpiCalendar,
  SPARKLINE_DAYS,
  type Stretch,
  type Window,
} from './kpi-calendar.js';
import { type Figures, KpiFiguresReader, type Sum } from './kpi-figures.reader.js';
import type { KpiMoneyTile, KpiTile, KpiTilesView, KpiView, OutsideAgentFigures } from './kpi.dto.js';

export interface TileFigures {
  /** Null where there is nothing to take it of. */
  value: number | null;
  /** What the value is compared with; null where there was nothing before. */
  before: number | null;
  /** One number for each of the days; of a rate null where there is nothing to take it of. */
  sparkline: readonly (number | null)[];
}

const INDEXES = Array.from({ length: SPARKLINE_DAYS }, (_, index) => index);

/** Of nothing, nothing is a percentage. */
export function changePercent(value: number | null, before: number | null): number | null {
  if (value === null || before === null || before === 0) return null;
  return oneDecimal(((value - before) * 1000) / Math.abs(before));
}

/** Tiles whose numbers a higher feature has. */
type SuppliedTile = 'connectorHealth';

/** What a tile is asked for. */
export interface TileQuestion {
  /** What the caller may see. */
  scope: Scope;
  /** The numbers of this team alone; null for all that the scope shows. */
  teamId: string | null;
  /** When it is asked, Unix milliseconds. */
  at: number;
  /** The 30 days of the sparkline in the workspace's zone, today being the last. */
  days: readonly Stretch[];
}

type TileSource = (question: TileQuestion) => Promise<TileFigures>;

/** The tiles of the dashboard; some numbers are those of higher features. */
@Injectable()
export class KpiService {
  readonly #sources = new Map<SuppliedTile, TileSource>();

  constructor(
    private readonly clock: Clock,
    private readonly audiences: Audiences,
    private readonly figures: KpiFiguresReader,
    private readonly logger: PinoLogger,
  ) {}

  /** Where a higher feature registers the numbers of a tile; one that nobody has registered is empty. */
  register(name: SuppliedTile, source: TileSource): void {
    this.#sources.set(name, source);
  }

  /**
   * The six numbers of `GET /kpi`, for one team or for all that the caller may see.
   * @throws NotFound for a team that does not exist or that the caller may not see
   */
  async read(caller: Caller, asked: string | undefined): Promise<KpiView> {
    const began = performance.now();
    const at = this.clock.now();
    const scope = scopeOf(caller);
    const audience = await this.audiences.of(caller, asked, 'together');
    const teamId = teamOf(audience);
    const { timezone, currency } = await this.figures.settings(scope);
    const calendar = kpiCalendar(at, timezone);
    const days = sparklineDays(calendar);
    const [figures, connectors] = await Promise.all([
      this.figures.read(scope, audience, windowsOf(calendar)),
      this.supplied('connectorHealth', { scope, teamId, at, days }),
    ]);
    const tiles = tilesOf(figures, currency, connectors);
    const computedInMs = Math.round((performance.now() - began) * 10) / 10;
    return {
      generatedAt: at,
      teamId,
      tiles,
      outsideAgents: outsideAgentsOf(figures),
      outsideAgentsSince: calendar.sevenDays.from,
      computedInMs,
    };
  }

  /** A source that fails leaves its own tile empty, and the others as they are. */
  private async supplied(name: SuppliedTile, question: TileQuestion): Promise<TileFigures> {
    const empty = { value: null, before: null, sparkline: question.days.map(() => null) };
    try {
      return (await this.#sources.get(name)?.(question)) ?? empty;
    } catch (error) {
      this.logger.warn(
        { err: error },
        `the numbers of the tile ${name} could not be read; it is shown empty`,
      );
      return empty;
    }
  }
}

/** The days that the sparklines show. */
function sparklineDays({ days }: KpiCalendar): readonly Stretch[] {
  return days.slice(SPARKLINE_DAYS);
}

/** All that is added up for the tiles. */
function windowsOf(calendar: KpiCalendar): Window[] {
  const { days, week, weekBefore, sevenDays, sevenDaysBefore } = calendar;
  const shown = sparklineDays(calendar);
  const to = days.at(-1)!.to;
  const sums = (kind: FigureKind, now: Stretch, before: Stretch): Window[] => [
    ...shown.map((day, index) => ({ kind, name: `day ${index}`, ...day })),
    { kind, name: 'now', ...now },
    { kind, name: 'before', ...before },
  ];
  return [
    ...sums('team_revenue', week, weekBefore),
    ...sums('executed', sevenDays, sevenDaysBefore),
    ...sums('cost', sevenDays, sevenDaysBefore),
    { kind: 'actions', name: 'now', ...sevenDays },
    // What has changed since: of how many wait now it is taken off.
    ...shown.map((day, index) => ({
      kind: 'pending' as const,
      name: `since day ${index}`,
      from: day.to,
      to,
    })),
    { kind: 'pending', name: 'since a week ago', from: sevenDaysBefore.to, to },
    ...shown.map((day, index) => ({
      kind: 'evals' as const,
      name: `until day ${index}`,
      from: days[index + 1]!.from,
      to: day.to,
    })),
    { kind: 'evals', name: 'before', from: days[0]!.from, to: shown[0]!.from },
  ];
}

/**
 * The tiles, from what was added up.
 *
 * @param currency the workspace's, in which revenue is told
 */
function tilesOf(figures: Figures, currency: string, connectors: TileFigures): KpiTilesView {
  return {
    revenueThisWeek: moneyTile(figures, 'team_revenue', currency),
    packetsExecuted: tile('packets', {
      value: figures.of('executed', 'now').n,
      before: figures.of('executed', 'before').n,
      sparkline: INDEXES.map((index) => figures.of('executed', `day ${index}`).n),
    }),
    approvalsPending: tile('approvals', {
      value: figures.waiting,
      before: figures.waiting - figures.of('pending', 'since a week ago').n,
      sparkline: INDEXES.map((index) => figures.waiting - figures.of('pending', `since day ${index}`).n),
    }),
    costLast7Days: moneyTile(figures, 'cost', COST_CURRENCY),
    evalPassRate: tile('percent', {
      value: rate(figures.of('evals', `until day ${SPARKLINE_DAYS - 1}`)),
      before: rate(figures.of('evals', 'before')),
      sparkline: INDEXES.map((index) => rate(figures.of('evals', `until day ${index}`))),
    }),
    connectorHealth: tile('percent', connectors),
  };
}

/** By name, those of whose requests something became. */
function outsideAgentsOf(figures: Figures): OutsideAgentFigures[] {
  const agents = new Map<string, OutsideAgentFigures>();
  for (const [key, { n }] of figures.byKey('actions', 'now')) {
    if (n === 0) continue;
    const [outcome, name] = [key.slice(0, key.indexOf(' ')), key.slice(key.indexOf(' ') + 1)];
    agents.set(name, { ...(agents.get(name) ?? { name, ...NO_ACTIONS }), [outcome]: n });
  }
  return [...agents.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function moneyTile(figures: Figures, kind: 'team_revenue' | 'cost', currency: string): KpiMoneyTile {
  const others = [...figures.byKey(kind, 'now')].filter(([key, { n }]) => key !== currency && n !== 0);
  return {
    ...tile(currency, {
      value: figures.of(kind, 'now', currency).amount,
      before: figures.of(kind, 'before', currency).amount,
      sparkline: INDEXES.map((index) => figures.of(kind, `day ${index}`, currency).amount),
    }),
    byCurrency: Object.fromEntries(others.map(([key, { amount }]) => [key, amount])),
  };
}

function tile(unit: string, { value, before, sparkline }: TileFigures): KpiTile {
  return { value, unit, changePercent: changePercent(value, before), sparkline: [...sparkline] };
}

/** In percent with one decimal; null where nothing ran. */
function rate({ n, amount }: Sum): number | null {
  return n === 0 ? null : oneDecimal((amount * 1000) / n);
}

/** Tenths as a number with one decimal; never -0. */
function oneDecimal(tenths: number): number {
  return Math.round(tenths) / 10 + 0;
}
