import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';
import type { CapoRole } from '../terms/index.js';

/** A capo that an admin has told to wait. */
@Entity('paused_capos')
export class PausedCapoEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  capo!: CapoRole;
  @Column('jsonb')
  pausedBy!: Actor;
  @Column('timestamptz')
  pausedAt!: number;
}
