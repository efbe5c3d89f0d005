import { Injectable } from '@nestjs/common';
import { type Caller, hasRole, scopeOf } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { kpiCalendar } from './kpi-calendar.js';
import { KpiFiguresReader } from './kpi-figures.reader.js';
import { KpiTiles } from './kpi-tiles.js';
import type { KpiView } from './kpi.dto.js';
import { sparklineDays, tilesOf, windowsOf } from './tiles.js';

/** The six numbers of `GET /kpi`, for one team or for all that the caller may see. */
@Injectable()
export class ReadKpi {
  constructor(
    private readonly clock: Clock,
    private readonly figures: KpiFiguresReader,
    private readonly tiles: KpiTiles,
  ) {}

  /** @throws NotFound for a team that does not exist or that the caller may not see */
  async execute(caller: Caller, asked: string | undefined): Promise<KpiView> {
    const began = performance.now();
    const at = this.clock.now();
    const scope = scopeOf(caller);
    const teamId = teamOf(caller, asked);
    const { timezone, currency, hasTeam } = await this.figures.settings(scope, teamId);
    if (!hasTeam) throw new NotFound();
    const calendar = kpiCalendar(at, timezone);
    const days = sparklineDays(calendar);
    const [figures, connectors] = await Promise.all([
      this.figures.read(scope, teamId, windowsOf(calendar)),
      this.tiles.read('connectorHealth', { scope, teamId, at, days }),
    ]);
    const tiles = tilesOf(figures, currency, connectors);
    const computedInMs = Math.round((performance.now() - began) * 10) / 10;
    return { generatedAt: at, teamId, tiles, computedInMs };
  }
}

/** The team that is named, else the caller's only one (CONTRACT section 4). */
function teamOf({ role, teamIds }: Caller, asked: string | undefined): string | null {
  const seesAll = hasRole(role, 'admin');
  if (asked !== undefined) {
    if (!seesAll && !teamIds.includes(asked)) throw new NotFound();
    return asked;
  }
  return !seesAll && teamIds.length === 1 ? teamIds[0]! : null;
}
