import type { ConnectorCheckView, ConnectorView } from './connector-health.dto.js';
import type { VisibleConnector } from './visible-connectors.reader.js';
import { asShown } from './connector-health.js';
import type { ConnectorCheckEntity } from './connector.entity.js';

/** Without whose it is: what the whole service has belongs to a workspace that others need not know. */
export function viewOf(connector: VisibleConnector): ConnectorView {
  return {
    connectorId: connector.connectorId,
    name: connector.name,
    kind: connector.kind,
    ...asShown(connector),
    latencyMs: connector.latencyMs,
    lastCheckedAt: connector.lastCheckedAt,
    lastOkAt: connector.lastOkAt,
    consecutiveFailures: connector.consecutiveFailures,
  };
}

export function checkViewOf(check: ConnectorCheckEntity): ConnectorCheckView {
  const { workspaceId: _workspace, connectorId: _connector, ...shown } = check;
  return shown;
}
