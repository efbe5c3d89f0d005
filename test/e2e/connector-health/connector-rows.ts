import { newId } from '../../../src/platform/kernel/ids.js';
import type { TestApp } from '../../support/test-app.js';

/** A connector of this workspace that was checked once and is not checked again: rows at rest. */
export async function leaveChecked({ rows }: Pick<TestApp, 'rows'>, workspaceId: string): Promise<string> {
  const connectorId = newId('con');
  await rows(
    `insert into connectors (workspace_id, connector_id, kind, subject, name, status, reason, latency_ms, last_checked_at,
       last_ok_at, checks, last_change, next_check_at, healthy_since)
     values ($1, $2, 'webhook', $3, 'Receiver', 'green', 'It accepts connections.', 12, now(), now(), 1, 1, 'infinity',
       now())`,
    [workspaceId, connectorId, newId('whk')],
  );
  await rows(
    `insert into connector_checks values ($1, $2, 1, now(), 'green', 'It accepts connections.', 12, true)`,
    [workspaceId, connectorId],
  );
  return connectorId;
}
