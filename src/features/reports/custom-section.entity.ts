import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';
import type { CapoRole } from '../terms/index.js';

/** A section that a workspace has added to its reports. */
@Entity('custom_report_sections')
export class CustomSectionEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  sectionId!: string;
  @Column('text')
  title!: string;
  /** What its capo is asked for each report. */
  @Column('text')
  directive!: string;
  @Column('text')
  capo!: CapoRole;
  @Column('boolean')
  includeInReport!: boolean;
  @Column('jsonb')
  createdBy!: Actor;
  @Column('timestamptz')
  createdAt!: number;
}
