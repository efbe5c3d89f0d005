import { COST_CURRENCY } from '../terms/index.js';
import { NO_ACTIONS } from '../verifier/index.js';
import {
  type KpiCalendar,
  SPARKLINE_DAYS,
  type Stretch,
  type FigureKind,
  type Window,
} from './kpi-calendar.js';
import type { Figures, Sum } from './kpi-figures.reader.js';
import type { KpiMoneyTile, KpiTile, KpiTilesView, OutsideAgentFigures } from './kpi.dto.js';

export interface TileFigures {
  /** Null where there is nothing to take it of. */
  value: number | null;
  /** What the value is compared with; null where there was nothing before. */
  before: number | null;
  /** One number for each of the days; of a rate null where there is nothing to take it of. */
  sparkline: readonly (number | null)[];
}

const INDEXES = Array.from({ length: SPARKLINE_DAYS }, (_, index) => index);

/** The days that the sparklines show. */
export function sparklineDays({ days }: KpiCalendar): readonly Stretch[] {
  return days.slice(SPARKLINE_DAYS);
}

/** All that is added up for the tiles. */
export function windowsOf(calendar: KpiCalendar): Window[] {
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
export function tilesOf(figures: Figures, currency: string, connectors: TileFigures): KpiTilesView {
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
export function outsideAgentsOf(figures: Figures): OutsideAgentFigures[] {
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

/** Of nothing, nothing is a percentage. */
export function changePercent(value: number | null, before: number | null): number | null {
  if (value === null || before === null || before === 0) return null;
  return oneDecimal(((value - before) * 1000) / Math.abs(before));
}

/** Tenths as a number with one decimal; never -0. */
function oneDecimal(tenths: number): number {
  return Math.round(tenths) / 10 + 0;
}
