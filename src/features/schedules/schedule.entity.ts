import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';
import type { CapoRole, Priority } from '../terms/index.js';
import type { ScheduleRule } from './schedule-rule.js';

export const SCHEDULE_STATUSES = ['active', 'paused'] as const;
export type ScheduleStatus = (typeof SCHEDULE_STATUSES)[number];

/** How missed due times are handled: one directive for all of them, or none. */
export const MISSED = ['once', 'skip'] as const;
export type Missed = (typeof MISSED)[number];

/** What is handed in at each due time. */
export interface ScheduledDirective {
  text: string;
  /** Null: the consigliere routes it each time. */
  capo: CapoRole | null;
  priority: Priority;
  requiresApproval: boolean;
  context: Record<string, unknown>;
}

@Entity('schedules')
export class ScheduleEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  scheduleId!: string;
  @Column('text', { nullable: true })
  teamId!: string | null;
  @Column('text')
  name!: string;
  @Column('jsonb')
  directive!: ScheduledDirective;
  @Column('jsonb')
  rule!: ScheduleRule;
  @Column('text')
  missed!: Missed;
  @Column('text')
  status!: ScheduleStatus;
  /** Why it is paused, for a person. */
  @Column('text', { nullable: true })
  pausedReason!: string | null;
  /** With whose rights it runs: the member who made, changed or resumed it last. */
  @Column('jsonb')
  owner!: Actor;
  /** Every member who had a part in what it hands in; none of them can be the second pair of eyes. */
  @Column('text', { array: true })
  requesterIds!: string[];
  /** Null while it is paused. */
  @Column('timestamptz', { nullable: true })
  nextRunAt!: number | null;
  /** The due time that was handled last, whether it made a directive or was skipped. */
  @Column('timestamptz', { nullable: true })
  lastDueAt!: number | null;
  @Column('timestamptz', { nullable: true })
  lastRunAt!: number | null;
  @Column('text', { nullable: true })
  lastDirectiveId!: string | null;
  @Column('jsonb')
  createdBy!: Actor;
  @Column('timestamptz')
  createdAt!: number;
  @Column('timestamptz')
  updatedAt!: number;
}
