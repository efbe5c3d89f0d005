/** Sums of the last 24 hours, 7 days and 30 days. */
export class RevenueWindows {
  h24!: number;
  d7!: number;
  d30!: number;
}

/** What drafts of the last 24 hours, 7 days and 30 days have cost; a draft counts when its directive was taken up. */
export class CostWindows {
  h24!: number;
  d7!: number;
  d30!: number;
  currency!: string;
}

/** How many directives have each status. */
export class DirectiveCounts {
  pending_approval!: number;
  queued!: number;
  executing!: number;
  sending!: number;
  executed!: number;
  failed!: number;
  rejected!: number;
  expired!: number;
  cancelled!: number;
  halted!: number;
  reverted!: number;
}

export class ApprovalMetrics {
  /** Undecided now. */
  pending!: number;
  /** Half of the decisions of the last 30 days took no longer; null without any. */
  medianDecisionMs!: number | null;
  /** Expired in the last 30 days without a decision. */
  expired!: number;
}

/** Revenue and performance of what the caller may see (`GET /metrics`). */
export class WorkspaceMetricsView {
  revenue!: RevenueWindows;
  /** Signals that carry a score. */
  signalsScored!: number;
  directives!: DirectiveCounts;
  approvals!: ApprovalMetrics;
  cost!: CostWindows;
}
