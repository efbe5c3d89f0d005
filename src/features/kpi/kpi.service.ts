import { Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Audiences, teamOf } from '../workspaces/index.js';
import { kpiCalendar, type Stretch } from './kpi-calendar.js';
import { KpiFiguresReader } from './kpi-figures.reader.js';
import type { KpiView } from './kpi.dto.js';
import { outsideAgentsOf, sparklineDays, type TileFigures, tilesOf, windowsOf } from './tiles.js';

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
