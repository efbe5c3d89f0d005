import { Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { Stretch } from './kpi-calendar.js';

/** Tiles whose numbers a higher feature has. */
export type SuppliedTile = 'connectorHealth';

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

export interface TileFigures {
  /** Null where there is nothing to take it of. */
  value: number | null;
  /** What the value is compared with; null where there was nothing before. */
  before: number | null;
  /** One number for each of the days; of a rate null where there is nothing to take it of. */
  sparkline: readonly (number | null)[];
}

export type TileSource = (question: TileQuestion) => Promise<TileFigures>;

/** Where a higher feature registers the numbers of a tile; one that nobody has registered is empty. */
@Injectable()
export class KpiTiles {
  readonly #sources = new Map<SuppliedTile, TileSource>();

  constructor(private readonly logger: PinoLogger) {}

  register(name: SuppliedTile, source: TileSource): void {
    this.#sources.set(name, source);
  }

  /** A source that fails leaves its own tile empty, and the others as they are. */
  async read(name: SuppliedTile, question: TileQuestion): Promise<TileFigures> {
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
