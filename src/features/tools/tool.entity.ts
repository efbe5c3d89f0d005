import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';
import type { Reversibility, Risk } from '../terms/index.js';

export const TOOL_STATUSES = ['proposed', 'active', 'paused'] as const;
export type ToolStatus = (typeof TOOL_STATUSES)[number];

/** `minor`: cents, or whatever the smallest unit of the currency is. */
export const AMOUNT_UNITS = ['major', 'minor'] as const;
export type AmountUnit = (typeof AMOUNT_UNITS)[number];

@Entity('tools')
export class ToolEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  name!: string;
  @Column('text')
  title!: string;
  @Column('text')
  description!: string;
  @Column('text')
  audience!: string;
  @Column('text')
  reversibility!: Reversibility;
  @Column('text')
  risk!: Risk;
  /** JSON Schema 2020-12. */
  @Column('jsonb')
  paramsSchema!: Record<string, unknown>;
  @Column('text', { nullable: true })
  amountPath!: string | null;
  @Column('text')
  amountUnit!: AmountUnit;
  @Column('text', { nullable: true })
  currencyPath!: string | null;
  @Column('text', { nullable: true })
  recipientsPath!: string | null;
  @Column('text', { nullable: true })
  titleTemplate!: string | null;
  @Column('int')
  consumeInSeconds!: number;
  @Column('int')
  completeInSeconds!: number;
  @Column('text')
  fingerprint!: string;
  @Column('text')
  status!: ToolStatus;
  @Column('jsonb')
  createdBy!: Actor;
  @Column('timestamptz')
  updatedAt!: number;
}
