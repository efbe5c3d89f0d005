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
export class DirectiveCounts {
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

export class ApprovalMetrics {
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
