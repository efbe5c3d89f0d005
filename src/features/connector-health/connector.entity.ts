import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What is configured and can fail (CONTRACT, Connector). */
export const CONNECTOR_KINDS = ['database', 'queue', 'mail', 'model', 'partner', 'webhook', 'http'] as const;

export type ConnectorKind = (typeof CONNECTOR_KINDS)[number];

/** Healthy, degraded, failing (SPECIFICATION, Connector health). */
export type ConnectorStatus = 'green' | 'yellow' | 'red';

@Entity('connectors')
export class ConnectorEntity {
  /** Who answers for it: the first workspace for what the whole service has. */
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  connectorId!: string;
  @Column('text')
  kind!: ConnectorKind;
  /** Tells connectors of one kind apart: the id of a destination, the name of a connector of the file. */
  @Column('text')
  subject!: string;
  @Column('text')
  name!: string;
  /** Which other workspaces may see it: `*` for all, else their ids. */
  @Column('text', { array: true })
  audience!: string[];
  @Column('text')
  status!: ConnectorStatus;
  @Column('text')
  reason!: string;
  @Column('int', { nullable: true })
  latencyMs!: number | null;
  @Column('timestamptz', { nullable: true })
  lastCheckedAt!: number | null;
  @Column('timestamptz', { nullable: true })
  lastOkAt!: number | null;
  @Column('int')
  consecutiveFailures!: number;
  /** How often it was checked. */
  @Column('bigint')
  checks!: number;
  /** The number of the check that changed its status last. */
  @Column('bigint')
  lastChange!: number;
  @Column('timestamptz')
  nextCheckAt!: number;
  /** When the attempt to send something was made that was counted last as a failure. */
  @Column('timestamptz', { nullable: true })
  judgedAttemptAt!: number | null;
  /** How often in a row a check was due that the process which claimed it did not know how to make. */
  @Column('int')
  postponed!: number;
  /** Since when no check has failed; null after one that has. */
  @Column('timestamptz', { nullable: true })
  healthySince!: number | null;
  /** It was told that it is red, by us or by the deliveries, and not yet that it has recovered. */
  @Column('boolean')
  alerted!: boolean;
  /** A signal of ours told it. */
  @Column('boolean')
  signalled!: boolean;
  /** A person was asked about it since then. */
  @Column('boolean')
  escalated!: boolean;
  /** How often it was told in a row, each within a day of the recovery before. */
  @Column('int')
  alerts!: number;
  @Column('timestamptz', { nullable: true })
  recoveredAt!: number | null;
  @Column('timestamptz')
  createdAt!: number;
}

@Entity('connector_checks')
export class ConnectorCheckEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  connectorId!: string;
  /** Counts the checks of the connector. */
  @PrimaryColumn('bigint')
  n!: number;
  @Column('timestamptz')
  checkedAt!: number;
  @Column('text')
  status!: ConnectorStatus;
  @Column('text')
  reason!: string;
  @Column('int', { nullable: true })
  latencyMs!: number | null;
  /** The status is another than that of the check before. */
  @Column('boolean')
  changed!: boolean;
}
