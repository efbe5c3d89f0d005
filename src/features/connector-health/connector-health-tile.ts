import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { Stretch, TileFigures, TileQuestion } from '../kpi/index.js';
import { VisibleConnectors } from './visible-connectors.reader.js';

const WEEK = 7;

/** The tile `connectorHealth`: which share of the connectors is green, in percent (CONTRACT, KPI). */
@Injectable()
export class ConnectorHealthTile {
  constructor(private readonly connectors: VisibleConnectors) {}

  /** The value is that of this moment; it is compared with the same day of the week before. */
  async figures({ scope, days }: Pick<TileQuestion, 'scope' | 'days'>): Promise<TileFigures> {
    const [value, daily] = await Promise.all([this.now(scope), this.daily(scope, days)]);
    return {
      value,
      before: daily.at(-1 - WEEK) ?? null,
      sparkline: daily,
    };
  }

  /** Null where nothing was checked yet. */
  async now(scope: Scope): Promise<number | null> {
    const { green, all } = await this.connectors.counts(scope);
    return all === 0 ? null : percentOf(green / all);
  }

  /** For each day the share of the time in which connectors were green; null for a day of which nothing is known. */
  async daily(scope: Scope, days: readonly Stretch[]): Promise<(number | null)[]> {
    const shares = await this.connectors.shares(scope, days);
    return shares.map((share) => (share === null ? null : percentOf(share)));
  }
}

function percentOf(share: number): number {
  return Math.round(share * 1_000) / 10;
}
