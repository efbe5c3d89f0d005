import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';
import type { SubscribableEvent } from '../events/index.js';

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
