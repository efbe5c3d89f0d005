import { Work, WORK_TOPIC } from '../../../src/platform/work/work.js';
import { Channel } from '../../../src/platform/database/channel.js';
import { eventually, type TestApp } from '../../support/test-app.js';

export interface ConnectorRow {
  workspace_id: string;
  connector_id: string;
  kind: string;
  subject: string;
  name: string;
  audience: string[];
  status: string;
  reason: string;
  latency_ms: number | null;
  consecutive_failures: number;
  checks: number;
  alerted: boolean;
}

export interface CheckRow {
  n: number;
  status: string;
  reason: string;
  latency_ms: number | null;
  changed: boolean;
}

/** Connectors as they are stored, and checks that are made now. */
export class ConnectorHealthDesk {
  constructor(readonly test: TestApp) {}

  async connector(kind: string, subject = '', workspaceId = this.test.workspaceId): Promise<ConnectorRow> {
    const [row] = await this.test.rows<ConnectorRow>(
      `select workspace_id, connector_id, kind, subject, name, audience, status, reason, latency_ms,
         consecutive_failures, checks::int, alerted
       from connectors where workspace_id = $1 and kind = $2 and subject = $3`,
      [workspaceId, kind, subject],
    );
    if (!row) throw new Error(`no connector of the kind ${kind}`);
    return row;
  }

  /** The connectors of a workspace of this kind. */
  all(kind: string, workspaceId = this.test.workspaceId): Promise<ConnectorRow[]> {
    return this.test.rows<ConnectorRow>(
      'select * from connectors where workspace_id = $1 and kind = $2 order by subject',
      [workspaceId, kind],
    );
  }

  /** The checks that are kept, oldest first. */
  checks(connectorId: string): Promise<CheckRow[]> {
    return this.test.rows<CheckRow>(
      `select n::int, status, reason, latency_ms, changed from connector_checks where connector_id = $1 order by n`,
      [connectorId],
    );
  }

  /** Makes a check due; the next sweep of a worker begins it. */
  async due(connectorId: string): Promise<void> {
    await this.test.rows(`update connectors set next_check_at = now() where connector_id = $1`, [
      connectorId,
    ]);
  }

  /** Makes a check due, and has it begun at once. */
  async begun(connectorId: string): Promise<void> {
    await this.due(connectorId);
    await this.test.rows('select app.enqueue_due_checks(1000)');
    this.notify(connectorId);
  }

  /** Checks it so many times, one after the other; answers how it is then. */
  async checked(connectorId: string, times = 1): Promise<ConnectorRow> {
    for (let time = 0; time < times; time++) {
      const before = (await this.checks(connectorId)).length;
      await this.begun(connectorId);
      await eventually(
        async () => (await this.checks(connectorId)).length,
        (count) => count > before,
        20,
      );
    }
    const [row] = await this.test.rows<ConnectorRow>(
      'select *, checks::int from connectors where connector_id = $1',
      [connectorId],
    );
    return row!;
  }

  /** As if it had been healthy for so long since its last failure. */
  async healthyFor(connectorId: string, minutes: number): Promise<void> {
    await this.test.rows(
      `update connectors set healthy_since = healthy_since - $2 * interval '1 minute' where connector_id = $1`,
      [connectorId, minutes],
    );
  }

  signals(connectorId: string): Promise<{ severity: string; title: string; body: string; type: string }[]> {
    return this.test.rows(
      `select type, severity, title, body from signals where entity->>'id' = $1 order by created_at, signal_id`,
      [connectorId],
    );
  }

  escalations(
    connectorId: string,
  ): Promise<{ id: string; status: string; options: string[]; reason: string; outcome: string | null }[]> {
    return this.test.rows(
      `select escalation_id as id, status, options, reason, outcome from escalations
       where kind = 'connector_red' and entity_type = 'connector' and entity_id = $1 order by created_at, escalation_id`,
      [connectorId],
    );
  }

  /** The actions of the receipts about a record, in their order. */
  async actions(entityType: string): Promise<string[]> {
    const rows = await this.test.rows<{ action: string }>(
      'select action from receipts where workspace_id = $1 and entity_type = $2 order by seq',
      [this.test.workspaceId, entityType],
    );
    return rows.map(({ action }) => action);
  }

  private notify(connectorId: string): void {
    const { app, workspaceId } = this.test;
    for (const kind of app.get(Work).kinds.keys()) {
      if (!kind.endsWith('.check')) continue;
      for (const queue of [connectorId, workspaceId])
        app.get(Channel).publishNow({ topic: WORK_TOPIC, workspaceId, id: `${kind} ${queue}` });
    }
  }
}
