/** What is configured and can fail (CONTRACT, Connector). */
export type ConnectorKind = 'database' | 'queue' | 'mail' | 'model' | 'partner' | 'webhook' | 'http';

/** Well, degraded, failing (SPECIFICATION, Connector health). */
export type ConnectorStatus = 'green' | 'yellow' | 'red';
