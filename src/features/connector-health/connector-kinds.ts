/** What is configured and can fail (CONTRACT, Connector). */
export const CONNECTOR_KINDS = ['database', 'queue', 'mail', 'model', 'partner', 'webhook', 'http'] as const;

export type ConnectorKind = (typeof CONNECTOR_KINDS)[number];

/** Healthy, degraded, failing (SPECIFICATION, Connector health). */
export type ConnectorStatus = 'green' | 'yellow' | 'red';
