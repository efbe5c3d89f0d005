import { IsOptional, Matches } from 'class-validator';
import { IsCalendarDate } from '../../platform/kernel/calendar-date.js';
import type { CapoRole } from '../terms/index.js';

const TEAM_ID = /^team_[0-9a-z]{26}$/;

/** Query of `GET /family/report`. */
export class FamilyReportQuery {
  /** The day in the workspace's zone. Left out: today. @example '2026-02-18' */
  @IsOptional()
  @IsCalendarDate()
  date?: string;

  /**
   * The team whose day it is. Left out: all that you may see, or your only team's; a member of several teams names one.
   * @example 'team_01kerq74k0wtbyzq0h359nrdxj'
   */
  @IsOptional()
  @Matches(TEAM_ID, { message: '$property must be the id of a team' })
  teamId?: string;
}

/** An amount in one currency. */
export class Money {
  /** How much. @example 0.12 */
  amount!: number;
  /** ISO 4217 code. @example 'USD' */
  currency!: string;
}

/** Something that happened, by its receipt. */
export class ReportedAct {
  /** The receipt that says so. @example 'rcp_01khqws0y0g13zyp5vc6y27gyg' */
  receiptId!: string;
  /** When it happened, ISO 8601. @example '2026-02-18T08:01:30.000Z' */
  at!: string;
  /** What happened, in one sentence. @example 'Ops filed "Delivery memo".' */
  summary!: string;
}

export class CapoDid {
  /** Work packets that were carried out. @example 3 */
  packetsExecuted!: number;
  /** Directives that were carried out. @example 2 */
  directivesExecuted!: number;
  /** Work packets that were undone. @example 0 */
  packetsReverted!: number;
  /** The newest five work packets of each kind. */
  items!: ReportedAct[];
}

export class WaitingApproval {
  /** The approval. @example 'apr_01khqw6q00tp9w1md2nw5hc13a' */
  approvalId!: string;
  /** Its subject. @example 'Email jane@acme.example and tell her that the delivery arrives on Friday.' */
  title!: string;
  /** Whether its draft is there. @example true */
  ready!: boolean;
  /** low, medium, high or critical @example 'medium' */
  risk!: string;
  /** Since when it waits, ISO 8601. @example '2026-02-18T08:00:00.000Z' */
  requestedAt!: string;
  /** Until when it can be decided, ISO 8601. @example '2026-02-21T08:00:00.000Z' */
  expiresAt!: string;
}

export class CapoWaits {
  /** Approvals that wait now, whatever the day of the report. @example 1 */
  approvals!: number;
  /** The oldest five. */
  items!: WaitingApproval[];
}

export class CapoFailed {
  /** Work packets that could not be carried out. @example 0 */
  packetsFailed!: number;
  /** Work packets that a standing order or the guardian denied. @example 0 */
  packetsDenied!: number;
  /** Directives that failed. @example 0 */
  directivesFailed!: number;
  /**
   * How many receipts of the day tell of a failure; `items` shows the newest of them. A decision about a draft has none of its own.
   * @example 0
   */
  inAll!: number;
  /** The newest five. */
  items!: ReportedAct[];
}

/** The day of one capo. */
export class CapoDay {
  /** The role. @example 'capo_ops' */
  capo!: CapoRole;
  /** How a person calls this capo. @example 'Ops' */
  name!: string;
  /** The day in a sentence. @example 'Ops carried out 3 work packets; 1 approval waits for a decision.' */
  sentence!: string;
  /** What it did that day. */
  did!: CapoDid;
  /** What waits for a decision now. */
  waits!: CapoWaits;
  /** What failed that day. */
  failed!: CapoFailed;
  /** What the drafts that were begun that day have cost, by currency. */
  cost!: Money[];
}

/** The capos' day in one page. */
export class FamilyReport {
  /** The id of the report, for comments; the same each time it is read. @example 'rpt_01khqmcr00k2v9m5d8q1tzxwb3' */
  reportId!: string;
  /** The day in the workspace's zone. @example '2026-02-18' */
  date!: string;
  /** The zone of the workspace. @example 'Europe/Berlin' */
  timezone!: string;
  /** The name of the workspace. @example 'Northwind' */
  workspaceName!: string;
  /** The team whose day it is; null: not of one team alone. */
  teamId!: string | null;
  /** When this was counted, ISO 8601. @example '2026-02-18T08:01:30.000Z' */
  generatedAt!: string;
  /** The day is not over yet. @example false */
  partial!: boolean;
  /** More happened than a report counts, 50,000 acts, so that its counts are minimums. @example false */
  countsAreMinimum!: boolean;
  /** The five capos. */
  capos!: CapoDay[];
}
