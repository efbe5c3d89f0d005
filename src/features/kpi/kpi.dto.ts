import { ApiProperty } from '@nestjs/swagger';
import { IsOptional, Matches } from 'class-validator';

/** Sums of the last 24 hours, 7 days and 30 days. */
export class WindowSums {
  /** Sum of the last 24 hours. @example 600.5 */
  h24!: number;
  /** Sum of the last 7 days. @example 2400 */
  d7!: number;
  /** Sum of the last 30 days. @example 9120.75 */
  d30!: number;
}

/** Sums in one currency; amounts in other currencies are never added to them. */
export class Sums extends WindowSums {
  /** ISO 4217 code: of revenue that of the workspace's settings, of what models cost USD. @example 'EUR' */
  currency!: string;
  /**
   * The sums in each other currency, unconverted.
   * @example { "USD": { "h24": 100, "d7": 250, "d30": 1020.5 } }
   */
  byCurrency!: Record<string, WindowSums>;
}

/** How many directives have each status. */
class DirectiveCounts {
  /** Directives whose output waits for a decision. @example 1 */
  pending_approval!: number;
  /** Directives that wait for their turn. @example 0 */
  queued!: number;
  /** Directives that are being drafted. @example 0 */
  executing!: number;
  /** Directives whose work packets are being carried out. @example 0 */
  sending!: number;
  /** Directives that were carried out. @example 42 */
  executed!: number;
  /** Directives that failed. @example 1 */
  failed!: number;
  /** Directives whose output was rejected. @example 3 */
  rejected!: number;
  /** Directives whose deadline or approval passed. @example 0 */
  expired!: number;
  /** Directives that were cancelled. @example 2 */
  cancelled!: number;
  /** Directives that the kill switch halted. @example 0 */
  halted!: number;
  /** Directives that were undone. @example 0 */
  reverted!: number;
}

class ApprovalMetrics {
  /** Undecided now. @example 1 */
  pending!: number;
  /**
   * Half of the decisions of the last 30 days took no longer, in milliseconds; null without any.
   * @example 90000
   */
  medianDecisionMs!: number | null;
  /** Expired in the last 30 days without a decision. @example 0 */
  expired!: number;
}

/** Revenue and performance of what the caller may see (`GET /metrics`). */
export class WorkspaceMetricsView {
  /** Revenue that was recorded. */
  revenue!: Sums;
  /** Signals that carry a score. @example 2 */
  signalsScored!: number;
  /** How many directives have each status. */
  directives!: DirectiveCounts;
  /** How approvals are decided. */
  approvals!: ApprovalMetrics;
  /**
   * What models have cost: drafts and routing when the capo began with the directive, answers in the chat and sections of reports
   * as they were made. In US dollars, whatever the workspace's currency.
   */
  cost!: Sums;
}

/** Query of `GET /kpi`. */
export class KpiQuery {
  /**
   * The numbers of this team alone. Left out: those of the caller's only team, or of all that the caller may see.
   * @example 'team_01kerq74k0wtbyzq0h359nrdxj'
   */
  @IsOptional()
  @Matches(/^team_[0-9a-z]{26}$/, { message: '$property must be the id of a team' })
  teamId?: string;
}

/** One number with how it has changed (CONTRACT section 5). */
export class KpiTile {
  /** The number now; null where there is nothing to take it of. @example 12 */
  value!: number | null;
  /** What it counts: packets, approvals, percent, or the currency of an amount. @example 'packets' */
  unit!: string;
  /**
   * By how many percent it differs from the time before, as described at each tile; null where there was nothing before.
   * @example 9.1
   */
  changePercent!: number | null;
  /**
   * One number for each of the last 30 days in the workspace's zone, the last being today. A rate is null on a day of which nothing is known.
   * @example [0, 2, 1, 0, 3, 0, 0, 1, 2, 2, 0, 1, 0, 0, 4, 1, 0, 2, 1, 0, 0, 3, 1, 0, 2, 2, 1, 3, 2, 1]
   */
  @ApiProperty({ type: 'array', items: { type: 'number', nullable: true }, minItems: 30, maxItems: 30 })
  sparkline!: (number | null)[];
}

/** A sum in the currency that `unit` names. Amounts in other currencies are in no number of it. */
export class KpiMoneyTile extends KpiTile {
  /** The same sum in each other currency, unconverted: what the value leaves out. @example { "USD": 250 } */
  byCurrency!: Record<string, number>;
}

export class KpiTilesView {
  /**
   * What was earned since Monday, by the day it occurred, in the workspace's currency; compared with the week before up to the same quarter of an hour.
   */
  revenueThisWeek!: KpiMoneyTile;
  /**
   * Work packets that were carried out in the last seven days, today being one; compared with the seven days before, up to
   * the same quarter of an hour.
   */
  packetsExecuted!: KpiTile;
  /**
   * Approvals that wait for a decision now; compared with a week ago. A day shows how many waited when it ended.
   */
  approvalsPending!: KpiTile;
  /**
   * What models cost in the last seven days (drafts by when they were begun), today being one, in US dollars whatever the
   * workspace's currency; compared with the seven days before, up to the same quarter of an hour.
   */
  costLast7Days!: KpiMoneyTile;
  /**
   * How many percent of the eval runs of the last 30 days passed; compared with the 30 days before. A day shows the 30 days
   * that end with it, and null where nothing ran in them.
   */
  evalPassRate!: KpiTile;
  /**
   * How many percent of the connectors are green; null while none is checked, and on a day of which nothing is known.
   */
  connectorHealth!: KpiTile;
}

/** How many requests of an agent from outside ended how. */
export class OutsideAgentFigures {
  /** The agent, as its token names it; of a member's own token, the member. @example 'CRM cleaner' */
  name!: string;
  /** Allowed by standing orders. @example 12 */
  allowed!: number;
  /** Approved by people. @example 3 */
  approved!: number;
  /** Denied by standing orders or the guardian. @example 1 */
  denied!: number;
  /** Rejected by people. @example 1 */
  rejected!: number;
  /** Carried out, as the agent says. @example 14 */
  completed!: number;
  /** Failed, as the agent says. @example 0 */
  failed!: number;
  /** Taken up, and no result came: whether it was done is not known. @example 0 */
  unconfirmed!: number;
}

/** The numbers of the workspace, or of a team, as they are now (`GET /kpi`). */
export class KpiView {
  /** When this was computed, Unix milliseconds. @example 1771401600000 */
  generatedAt!: number;
  /**
   * The team whose numbers these are; null for all that the caller may see.
   * @example 'team_01kerq74k0wtbyzq0h359nrdxj'
   */
  teamId!: string | null;
  /** The six tiles. */
  tiles!: KpiTilesView;
  /** What became of the requests of agents from outside in the last seven days, today being one; by name. */
  outsideAgents!: OutsideAgentFigures[];
  /** Since when these requests are counted, Unix milliseconds. @example 1770850800000 */
  outsideAgentsSince!: number;
  /** How long it took to compute, in milliseconds. @example 4.2 */
  computedInMs!: number;
}
