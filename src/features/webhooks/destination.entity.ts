import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';
import type { SubscribableEvent } from '../events/event.js';

/** `paused`: only a probe is sent now and then. `gone`: the receiver answered 410, nothing is sent any more. */
export type DestinationStatus = 'active' | 'paused' | 'gone';

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
  @Column('text', { nullable: true })
  previousSealedSecret!: string | null;
  /** How long the previous secret signs as well. */
  @Column('timestamptz', { nullable: true })
  previousUntil!: number | null;
  /** Deliveries in a row that were given up. */
  @Column('int')
  consecutiveFailures!: number;
  /** When a paused destination is tried again. */
  @Column('timestamptz', { nullable: true })
  probeAt!: number | null;
  @Column('timestamptz', { nullable: true })
  lastDeliveryAt!: number | null;
  @Column('jsonb')
  createdBy!: Actor;
  @Column('timestamptz')
  createdAt!: number;
  @Column('timestamptz', { nullable: true })
  deletedAt!: number | null;
}
