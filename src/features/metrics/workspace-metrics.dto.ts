/** Sums of the last 24 hours, 7 days and 30 days. */
export class WindowSums {
  h24!: number;
  d7!: number;
  d30!: number;
}

/** Sums in the workspace's currency; amounts in other currencies are never added to them. */
export class Sums extends WindowSums {
  /** ISO 4217: that of the workspace's settings. */
  currency!: string;
  /** The sums in each other currency, unconverted. */
  byCurrency!: Record<string, WindowSums>;
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
  revenue!: Sums;
  /** Signals that carry a score. */
  signalsScored!: number;
  directives!: DirectiveCounts;
  approvals!: ApprovalMetrics;
  /** What drafts have cost; a draft counts when its directive was taken up. */
  cost!: Sums;
}
