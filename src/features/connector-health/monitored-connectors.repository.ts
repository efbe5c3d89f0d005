import { Injectable } from '@nestjs/common';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { newId } from '../../platform/kernel/ids.js';
import {
  CONNECTOR_KINDS,
  type ConnectorKind,
  ConnectorCheckEntity,
  ConnectorEntity,
} from './connector.entity.js';
import type { HealthChange } from './connector-health.js';

/** What is configured: at most one of a kind and a subject in a workspace. */
export type ConfiguredConnector = Pick<ConnectorEntity, 'kind' | 'subject' | 'name' | 'audience'>;

/** A connector that is locked, and the time by the clock of the database. */
export type LockedConnector = ConnectorEntity & { now: number };

const UNCHECKED = 'It has not been checked yet.';
/** At each start: soon, so that a service that is set up wrongly shows it while somebody looks. */
const FIRST_CHECK_MS = 2_000;
/** A receiver that has just been registered may not be up yet. */
const FIRST_CHECK_OF_RECEIVER_MS = 30_000;

/** A figure of the metrics: the connectors that are red, by their kind. */
export const redStatement = (): Statement => ({
  text: 'select kind as label, n as value from app.red_connectors($1)',
  values: [[...CONNECTOR_KINDS]],
});

/**
 * Connectors and their checks. All times are those of the database's clock, by which checks fall due, so that processes
 * whose clocks differ agree.
 */
@Injectable()
export class MonitoredConnectors {
  constructor(private readonly db: Db) {}

  /** The connector if a check of it is due, and nobody has made it meanwhile. */
  async due(scope: Scope, connectorId: string): Promise<ConnectorEntity | undefined> {
    const [row] = await this.db.read<ConnectorEntity>(
      scope,
      `select ${columnsOf(ConnectorEntity)} from connectors
       where workspace_id = $1 and connector_id = $2 and next_check_at <= clock_timestamp()`,
      [scope.workspaceId, connectorId],
    );
    return row;
  }

  /** Locks a connector of the open transaction's workspace. */
  async lock(connectorId: string): Promise<LockedConnector | undefined> {
    const [row] = await this.db.query<LockedConnector>(
      `select ${columnsOf(ConnectorEntity)}, app.ms(clock_timestamp()) as now from connectors
       where workspace_id = $1 and connector_id = $2 for no key update`,
      [this.db.unit.scope.workspaceId, connectorId],
    );
    return row;
  }

  /** Stores what came of the check of a locked connector, and when the next one follows. */
  record({ now, ...connector }: LockedConnector, { changes, nextInMs }: HealthChange): void {
    const { workspaceId, connectorId } = connector;
    const n = connector.checks + 1;
    const { status, reason, latencyMs } = changes;
    const changed = connector.checks === 0 || status !== connector.status;
    this.db.update(
      ConnectorEntity,
      { workspaceId, connectorId },
      {
        ...changes,
        checks: n,
        lastCheckedAt: now,
        nextCheckAt: now + nextInMs,
        postponed: 0,
        ...(changed && { lastChange: n }),
      },
    );
    this.db.insert(ConnectorCheckEntity, {
      workspaceId,
      connectorId,
      n,
      checkedAt: now,
      status,
      reason,
      latencyMs,
      changed,
    });
  }

  /** Writes again what is there: nothing changes, and the database does all that a write needs, up to its disk. */
  async rewrite({
    workspaceId,
    connectorId,
  }: Pick<ConnectorEntity, 'workspaceId' | 'connectorId'>): Promise<void> {
    await this.db.writeAll({ workspaceId, teamIds: [] }, [
      {
        text: 'update connectors set created_at = created_at where workspace_id = $1 and connector_id = $2',
        values: [workspaceId, connectorId],
      },
    ]);
  }

  /** This process does not know the connector; its check is due again after a minute, and another one may. */
  postpone(connectorId: string): void {
    this.db.write(
      `update connectors set next_check_at = now() + interval '1 minute', postponed = postponed + 1
       where workspace_id = $1 and connector_id = $2`,
      [this.db.unit.scope.workspaceId, connectorId],
    );
  }

  /** A person asked for a check: it is made now, and who is asked to decide may be asked again. */
  checkNow(connectorId: string): void {
    this.db.write(
      `update connectors set next_check_at = now(), escalated = false where workspace_id = $1 and connector_id = $2`,
      [this.db.unit.scope.workspaceId, connectorId],
    );
  }

  /** Has those of a kind that the whole service has checked at once. */
  async checkKindNow(kind: ConnectorKind): Promise<void> {
    await this.db.system('select app.check_connectors_now($1)', [kind]);
  }

  /** Adds a connector of the open transaction's workspace, or brings one that is there up to date. */
  configure({ kind, subject, name, audience }: ConfiguredConnector): void {
    this.db.write(
      `insert into connectors as c (workspace_id, connector_id, kind, subject, name, audience, reason, next_check_at)
       values ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 millisecond')
       on conflict (workspace_id, kind, subject) do update set name = excluded.name, audience = excluded.audience,
         next_check_at = least(c.next_check_at, excluded.next_check_at)`,
      [
        this.db.unit.scope.workspaceId,
        newId('con'),
        kind,
        subject,
        name,
        audience,
        UNCHECKED,
        kind === 'webhook' || kind === 'partner' ? FIRST_CHECK_OF_RECEIVER_MS : FIRST_CHECK_MS,
      ],
    );
  }

  /** Connectors of these kinds that are configured no longer, locked: all but those that are named. */
  async lockOthers(
    kinds: readonly ConnectorKind[],
    configured: readonly Pick<ConfiguredConnector, 'kind' | 'subject'>[],
  ): Promise<ConnectorEntity[]> {
    return this.db.query<ConnectorEntity>(
      `select ${columnsOf(ConnectorEntity)} from connectors
       where workspace_id = $1 and kind = any($2)
         and not exists (select from unnest($3::text[], $4::text[]) o (kind, subject)
           where o.kind = connectors.kind and o.subject = connectors.subject)
       order by connector_id for update`,
      [
        this.db.unit.scope.workspaceId,
        kinds,
        configured.map(({ kind }) => kind),
        configured.map(({ subject }) => subject),
      ],
    );
  }

  /** Removes a connector with its checks. */
  remove(connectorId: string): void {
    this.db.write('delete from connectors where workspace_id = $1 and connector_id = $2', [
      this.db.unit.scope.workspaceId,
      connectorId,
    ]);
  }

  /** The one of a destination, locked, if there is one. */
  async lockOf(kind: ConnectorKind, subject: string): Promise<ConnectorEntity | undefined> {
    const { workspaceId } = this.db.unit.scope;
    return this.db.lockOne(ConnectorEntity, { workspaceId, kind, subject }, 'for update');
  }

  /** Adds what is there without a connector, over all workspaces. */
  async discover(): Promise<void> {
    await this.db.system('select app.discover_connectors()');
  }

  /** Of these kinds of work, the one that has been due for longest with nobody having begun it. */
  async longestWaiting(kinds: readonly string[]): Promise<{ kind: string; waitingMs: number } | undefined> {
    const [longest] = await this.db.system<{ kind: string; waitingMs: number }>(
      'select kind, waiting_ms from app.waiting_unworked($1)',
      [kinds],
    );
    return longest;
  }

  /** The workspace that answers for what the whole service has. */
  async firstWorkspace(): Promise<string> {
    const [row] = await this.db.system<{ workspaceId: string }>(
      'select app.first_workspace() as workspace_id',
    );
    return row!.workspaceId;
  }

  /** The workspaces that answer for connectors of the file, as far as they are known. */
  async withHttp(): Promise<string[]> {
    const rows = await this.db.system<{ workspaceId: string }>(
      'select workspace_id from app.answering_workspaces()',
    );
    return rows.map(({ workspaceId }) => workspaceId);
  }

  /** Those of these workspaces that exist, in their order. */
  async existing(workspaceIds: readonly string[]): Promise<string[]> {
    const rows = await this.db.system<{ workspaceId: string }>(
      'select workspace_id from app.existing_workspaces($1)',
      [workspaceIds],
    );
    const existing = new Set(rows.map(({ workspaceId }) => workspaceId));
    return workspaceIds.filter((workspaceId) => existing.has(workspaceId));
  }
}
