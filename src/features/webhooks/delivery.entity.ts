import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { EventType } from '../events/index.js';
import type { Attempt } from './delivery.js';

/** `failed`: the last attempt failed and another follows. `dead`: none follows. */
export type StoredDeliveryStatus = 'pending' | 'delivered' | 'failed' | 'dead';

/** One is `sending` while its work is claimed. */
export type DeliveryStatus = StoredDeliveryStatus | 'sending';

@Entity('webhook_events')
export class WebhookEventEntity {
  @PrimaryColumn('text')
  eventId!: string;
  @Column('text')
  workspaceId!: string;
  @Column('text')
  event!: EventType;
  /** The request that caused it. */
  @Column('text')
  requestId!: string;
  /** The bytes that every attempt sends. */
  @Column('text')
  body!: string;
  @Column('timestamptz')
  createdAt!: number;
}

@Entity('webhook_deliveries')
export class WebhookDeliveryEntity {
  @PrimaryColumn('text')
  deliveryId!: string;
  @Column('text')
  workspaceId!: string;
  @Column('text')
  destinationId!: string;
  @Column('text')
  eventId!: string;
  @Column('text')
  event!: EventType;
  @Column('text')
  status!: StoredDeliveryStatus;
  /** What came of each attempt that has ended. */
  @Column('jsonb')
  attempts!: Attempt[];
  @Column('timestamptz')
  createdAt!: number;
}
