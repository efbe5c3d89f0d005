import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { EventType } from '../events/event.js';
import type { Attempt } from './delivery.js';

/** `failed`: the last attempt failed and another follows. `dead`: none follows. */
export type DeliveryStatus = 'pending' | 'sending' | 'delivered' | 'failed' | 'dead';

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
  status!: DeliveryStatus;
  /** What came of each attempt that has ended. */
  @Column('jsonb')
  attempts!: Attempt[];
  /** How often it was taken up; a result counts only under the taking that made it. */
  @Column('int')
  takes!: number;
  /** The next attempt, or the end of the lease of who is making one; null when there is no more to do. */
  @Column('timestamptz', { nullable: true })
  dueAt!: number | null;
  @Column('timestamptz')
  createdAt!: number;
}
