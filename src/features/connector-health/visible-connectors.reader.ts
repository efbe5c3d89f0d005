import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { type Listing, readPage } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { Page, PageQuery } from '../../platform/kernel/pages.dto.js';
import type { Stretch, TileFigures, TileQuestion } from '../kpi/index.js';
import type { StoredHealth } from './connector-health.js';
import { ConnectorCheckEntity, type ConnectorEntity } from './connector.entity.js';

/** A connector as a workspace may see it, its own or one that is shared with it. */
export type VisibleConnector = StoredHealth &
  Pick<
    ConnectorEntity,
    | 'workspaceId'
    | 'connectorId'
    | 'name'
    | 'latencyMs'
    | 'lastCheckedAt'
    | 'lastOkAt'
    | 'consecutiveFailures'
  >;

const VISIBLE = `c.workspace_id, c.connector_id, c.kind, c.name, c.status, c.reason, c.latency_ms,
  c.last_checked_at, c.last_ok_at, c.consecutive_failures, c.overdue, c.unknown`;

const WEEK = 7;

/** What a workspace may see of connectors and their checks: its own, and those that are shared with it. */
@Injectable()
export class VisibleConnectors {
  constructor(private readonly db: Db) {}

  /** What the workspace may see: the service's own first, then its own by kind and name, destinations as they were registered. */
  list(scope: Scope, paging: PageQuery): Promise<Page<VisibleConnector>> {
    const listing: Listing = {
      name: 'connectors',
      select: VISIBLE,
      from: 'app.visible_connectors($1) c',
      where: 'true',
      values: [scope.workspaceId],
      order: [
        { column: 'c.rank', kind: 'number' },
        // A cursor has no room for a long description.
        { column: `case c.kind when 'webhook' then c.subject else c.name end`, kind: 'text' },
        { column: 'c.connector_id', kind: 'text' },
      ],
    };
    return readPage(this.db, scope, listing, paging);
  }

  async find(scope: Scope, connectorId: string): Promise<VisibleConnector | undefined> {
    const [row] = await this.db.read<VisibleConnector>(
      scope,
      `select ${VISIBLE} from app.visible_connectors($1) c where c.connector_id = $2`,
      [scope.workspaceId, connectorId],
    );
    return row;
  }

  /** Its checks, the newest first. They stand in the workspace that answers for it, which the caller has been shown. */
  checks(
    { workspaceId, connectorId }: Pick<VisibleConnector, 'workspaceId' | 'connectorId'>,
    paging: PageQuery,
  ): Promise<Page<ConnectorCheckEntity>> {
    const listing: Listing = {
      name: `checks ${connectorId}`,
      select: columnsOf(ConnectorCheckEntity),
      from: 'connector_checks',
      where: 'workspace_id = $1 and connector_id = $2',
      values: [workspaceId, connectorId],
      order: [{ column: 'n', kind: 'number', descending: true }],
    };
    return readPage(this.db, { workspaceId, teamIds: [] }, listing, paging);
  }

  /**
   * The tile `connectorHealth`: which share of the connectors is green, in percent (CONTRACT, KPI).
   * The value is that of this moment; it is compared with the same day of the week before.
   */
  async figures({ scope, days }: Pick<TileQuestion, 'scope' | 'days'>): Promise<TileFigures> {
    const [value, daily] = await Promise.all([this.now(scope), this.daily(scope, days)]);
    return { value, before: daily.at(-1 - WEEK) ?? null, sparkline: daily };
  }

  /** The share of what was checked; null where nothing was checked yet. */
  async now(scope: Scope): Promise<number | null> {
    const [row] = await this.db.read<{ green: number; all: number }>(
      scope,
      `select count(*) filter (where c.status = 'green' and not c.overdue and not c.unknown)::int as green, count(*)::int as all
       from app.visible_connectors($1) c where c.last_checked_at is not null`,
      [scope.workspaceId],
    );
    const { green, all } = row!;
    return all === 0 ? null : percentOf(green / all);
  }

  /** For each day the share of the time in which what the workspace may see was green; null where nothing was known. */
  async daily(scope: Scope, days: readonly Stretch[]): Promise<(number | null)[]> {
    const rows = await this.db.read<{ share: number | null }>(
      scope,
      'select share from app.visible_health_shares($1, $2::timestamptz[], $3::timestamptz[]) order by n',
      [scope.workspaceId, days.map(({ from }) => new Date(from)), days.map(({ to }) => new Date(to))],
    );
    return rows.map(({ share }) => (share === null ? null : percentOf(share)));
  }
}

function percentOf(share: number): number {
  return Math.round(share * 1_000) / 10;
}
