import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';
import type { Id } from '../../platform/kernel/ids.js';
import type { CapoRole } from '../terms/index.js';
import type { PackManifest, PackSkill } from './pack-manifest.js';

export const PACK_STATUSES = ['installing', 'installed', 'failed', 'uninstalled', 'revoked'] as const;
export type PackStatus = (typeof PACK_STATUSES)[number];

/** The statuses of a pack that the workspace has. */
export const PRESENT: readonly PackStatus[] = ['installing', 'installed', 'failed'];

/** A pack that a workspace has or had; the row stays, so that no older version comes back. */
@Entity('skill_packs')
export class SkillPackEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  packId!: Id<'pck'>;
  @Column('text')
  publisher!: string;
  @Column('text')
  name!: string;
  @Column('text')
  nameKey!: string;
  @Column('text')
  version!: string;
  @Column('jsonb')
  manifest!: PackManifest;
  @Column('text')
  manifestHash!: string;
  @Column('text')
  signature!: string;
  @Column('text')
  status!: PackStatus;
  @Column('jsonb')
  installedBy!: Actor;
  @Column('timestamptz')
  installedAt!: number;
  @Column('timestamptz', { nullable: true })
  completedAt!: number | null;
  @Column('jsonb', { nullable: true })
  removedBy!: Actor | null;
  @Column('timestamptz', { nullable: true })
  removedAt!: number | null;
  /** Why it failed or was revoked. */
  @Column('text', { nullable: true })
  reason!: string | null;
}

/** A skill of an installed pack. It goes with the pack. */
@Entity('skill_pack_skills')
export class SkillPackSkillEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  packId!: string;
  @PrimaryColumn('text')
  name!: string;
  @Column('int')
  position!: number;
  @Column('text')
  capo!: CapoRole;
  @Column('text')
  status!: 'waiting' | 'arrived' | 'refused';
  /** What its capo is given; of an upgrade the former text until the new one has arrived. */
  @Column('jsonb', { nullable: true })
  definition!: PackSkill | null;
  /** The version of the pack that it is of. */
  @Column('text', { nullable: true })
  version!: string | null;
  @Column('text', { nullable: true })
  reason!: string | null;
  @Column('text', { nullable: true })
  evalRunId!: string | null;
  @Column('double precision', { nullable: true })
  score!: number | null;
}

/** A standing order of a pack, by its key in the manifest. */
@Entity('skill_pack_orders')
export class SkillPackOrderEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  packId!: string;
  @PrimaryColumn('text')
  orderKey!: string;
  @Column('int')
  position!: number;
  @Column('text')
  status!: 'waiting' | 'leaving' | 'arrived' | 'kept' | 'refused' | 'dropped';
  @Column('text', { nullable: true })
  standingOrderId!: string | null;
  @Column('text', { array: true })
  formerIds!: string[];
  @Column('text', { nullable: true })
  shippedHash!: string | null;
  @Column('int', { nullable: true })
  writtenVersion!: number | null;
  @Column('text', { nullable: true })
  version!: string | null;
  @Column('text', { nullable: true })
  reason!: string | null;
}
