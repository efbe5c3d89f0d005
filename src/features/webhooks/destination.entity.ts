import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';
import type { EventType, SubscribableEvent } from '../events/index.js';
import type { Attempt } from './delivery.js';

/** `paused`: only a probe is sent now and then. `gone`: the receiver answered 410, nothing is sent any more. */
export type DestinationStatus = 'active' | 'paused' | 'gone';

/** What keeps us from sending, whatever the receiver does: a secret that cannot be opened, or an unexpected error. */
export type DestinationFault = 'secret' | 'unexpected';

/** A secret that was rotated out, and until when it signs, Unix milliseconds. */
export interface FormerSecret {
  sealed: string;
  until: number;
}

@Entity('webhook_destinations')
export class WebhookDestinationEntity {
  @PrimaryColumn('text')
  destinationId!: string;
  @Column('text')
  workspaceId!: string;
  @Column('text')
  description!: string;
  @Column('text')
  url!: string;
  @Column('text', { array: true })
  events!: SubscribableEvent[];
  @Column('text')
  status!: DestinationStatus;
  @Column('text')
  apiVersion!: string;
  /** Null once it is deleted. */
  @Column('text', { nullable: true })
  sealedSecret!: string | null;
  /** These sign as well, each until its own time; the newest first. */
  @Column('jsonb')
  formerSecrets!: FormerSecret[];
  /** Deliveries in a row that were given up. */
  @Column('int')
  consecutiveFailures!: number;
  /** Why nothing can be sent to it, once a signal has told; null again when a delivery arrives. */
  @Column('text', { nullable: true })
  fault!: DestinationFault | null;
  @Column('timestamptz', { nullable: true })
  lastDeliveryAt!: number | null;
  @Column('jsonb')
  createdBy!: Actor;
  @Column('timestamptz')
  createdAt!: number;
  @Column('timestamptz', { nullable: true })
  deletedAt!: number | null;
}

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
