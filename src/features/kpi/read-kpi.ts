import { Injectable } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Audiences, teamOf } from '../workspaces/index.js';
import { kpiCalendar } from './kpi-calendar.js';
import { KpiFiguresReader } from './kpi-figures.reader.js';
import { KpiTiles } from './kpi-tiles.js';
import type { KpiView } from './kpi.dto.js';
import { outsideAgentsOf, sparklineDays, tilesOf, windowsOf } from './tiles.js';

/** The six numbers of `GET /kpi`, for one team or for all that the caller may see. */
@Injectable()
export class ReadKpi {
  constructor(
    private readonly clock: Clock,
    private readonly audiences: Audiences,
    private readonly figures: KpiFiguresReader,
    private readonly tiles: KpiTiles,
  ) {}

  /** @throws NotFound for a team that does not exist or that the caller may not see */
  async execute(caller: Caller, asked: string | undefined): Promise<KpiView> {
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
      this.tiles.read('connectorHealth', { scope, teamId, at, days }),
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
}
