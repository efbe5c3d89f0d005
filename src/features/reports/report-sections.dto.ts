import type { EscalationKind } from '../escalations/index.js';
import { OutsideAgentFigures } from '../kpi/index.js';
import type { CapoRole, Priority } from '../terms/index.js';
import type { CapoFigures } from '../verifier/index.js';

/** An amount that was recorded on the day. */
export class ReportedEventView {
  /** The id of the revenue event. @example 'rev_01khqw9ewg14azqhp5x4vkpz0a' */
  eventId!: string;
  /** In its currency; negative: it was given back. @example 49.9 */
  amount!: number;
  /** ISO 4217 code. @example 'EUR' */
  currency!: string;
  /** Where it comes from. @example 'shop' */
  source!: string;
  /** What it was for, if somebody said so. @example 'Order 1204' */
  description!: string | null;
  /**
   * When it was earned, ISO 8601; the report has what was recorded on its day.
   * @example '2026-02-17T15:12:00.000Z'
   */
  occurredAt!: string;
}

/** What was recorded as earned on the day. */
export class RevenueSection {
  /** The sum in the workspace's currency. @example 1204.5 */
  total!: number;
  /** ISO 4217 code: that of the workspace's settings. @example 'EUR' */
  currency!: string;
  /** The sums in other currencies, unconverted. @example { "USD": 100 } */
  byCurrency!: Record<string, number>;
  /** How many events there were. @example 31 */
  eventsTotal!: number;
  /**
   * The first 20 of them.
   */
  events!: ReportedEventView[];
}

/** The kind of a record and its id. */
export class ReportedEntityView {
  /** What kind of record it is. @example 'work_packet' */
  type!: string;
  /** The id of the record. @example 'pkt_01khqw6q006hs686p8sr7arg9t' */
  id!: string;
}

/** An act of the day, as its receipt tells it. */
export class ReportedActView {
  /** The receipt. @example 'rcp_01khqw6q006hs686p8sr7arg9t' */
  receiptId!: string;
  /** When it happened, ISO 8601. @example '2026-02-17T15:12:00.000Z' */
  at!: string;
  /** What it was about. */
  entity!: ReportedEntityView;
  /** The directive that it belongs to; null: none. @example 'dir_01khqw6q006hs686p8sr7arg9t' */
  directiveId!: string | null;
  /** What happened, in a sentence. @example 'Ops sent the mail "Your delivery".' */
  summary!: string;
  /** Whom or what it went to; null where nothing left. @example 'jane@acme.example' */
  to!: string | null;
}

/** How many requests of an agent from outside for one tool ended how. */
export class ReportedAgentView extends OutsideAgentFigures {
  /**
   * The tool that was asked for; of an agent that asked for more than 20, `other tools` are those beyond.
   * @example 'crm.refund'
   */
  tool!: string;
  /** The newest of these requests. @example 'act_01khqw6sb0xg7v9zhwnqcrxds8' */
  actionRequestId!: string;
}

/** What the capos did on the day. Reports that were made by earlier versions have only the first three numbers and `capos`. */
export class AgentActivitySection {
  /** Directives that were carried out. @example 12 */
  directivesExecuted!: number;
  /** Work packets that a person or a standing order released. @example 15 */
  movesApproved!: number;
  /** Work packets that the guardian denied. @example 1 */
  movesBlocked!: number;
  /**
   * The same for each capo, with what its models cost in US dollars.
   * @example { "capo_ops": { "directivesExecuted": 12, "movesApproved": 15, "movesBlocked": 1, "cost": 0 } }
   */
  capos!: Record<CapoRole, CapoFigures>;
  /** Work packets that left: mails, posts and calls. @example 4 */
  movesSent?: number;
  /** Work packets that were undone. @example 2 */
  movesUndone?: number;
  /** Directives that failed. @example 3 */
  directivesFailed?: number;
  /** Directives that were rejected. @example 1 */
  directivesRejected?: number;
  /** Directives that expired. @example 1 */
  directivesExpired?: number;
  /** How many acts `notDone` tells of, with those that it does not list. @example 5 */
  notDoneTotal?: number;
  /** Mails that did not reach all of their recipients, though others have them. @example 1 */
  notReachedTotal?: number;
  /** What was sent or done, the first 20; a mail with all of its recipients. */
  sent?: ReportedActView[];
  /** Mails that did not reach all of their recipients, the first 20, each with those whom it did not reach. */
  notReached?: ReportedActView[];
  /** What was undone, the first 20. */
  undone?: ReportedActView[];
  /** What failed, was rejected, denied or cancelled, or expired, the first 20. */
  notDone?: ReportedActView[];
  /** What became of the requests of agents from outside, by agent and tool. */
  outsideAgents?: ReportedAgentView[];
}

/** An approval that waits. */
export class ReportedApprovalView {
  /** The id of the approval. @example 'apr_01khqw6q00tp9w1md2nw5hc13a' */
  approvalId!: string;
  /** Its subject. @example 'Mail to jane@acme.example' */
  title!: string;
  /** Whose draft it is; null until a capo was chosen. @example 'capo_ops' */
  capo!: CapoRole | null;
  /** The agent from outside that asks; null where a capo drafts. @example null */
  agent?: string | null;
  /** high, medium or low @example 'high' */
  priority!: Priority;
  /** Since when it waits, ISO 8601. @example '2026-02-17T15:12:00.000Z' */
  requestedAt!: string;
  /** When it expires, ISO 8601. @example '2026-02-20T15:12:00.000Z' */
  expiresAt!: string;
}

/** An escalation that waits. */
export class ReportedEscalationView {
  /** The id of the escalation. @example 'esc_01khqw6q00tp9w1md2nw5hc13a' */
  escalationId!: string;
  /** What it is about. @example 'packet_failed' */
  kind!: EscalationKind;
  /** Why a person has to decide. @example '"Delivery" did not reach everybody.' */
  reason!: string;
  /** What can be decided. @example ['dismiss'] */
  options!: string[];
  /** Since when it waits, ISO 8601. @example '2026-02-17T15:12:00.000Z' */
  createdAt!: string;
  /** When it ends by itself, or becomes worse, ISO 8601; null: never. @example null */
  dueAt!: string | null;
}

/** The escalations that wait. */
export class EscalationsOfReport {
  /** How many are open. @example 1 */
  open!: number;
  /** The first 20 of them, the most urgent first. */
  items!: ReportedEscalationView[];
}

/** What waits for a person as the report is made. */
export class ApprovalQueueSection {
  /** Approvals that wait. @example 3 */
  pending!: number;
  /** Those of them that are urgent. @example 1 */
  urgent!: number;
  /**
   * The first 20 of them, urgent ones first.
   */
  items!: ReportedApprovalView[];
  /** Escalations that wait. Reports that were made by earlier versions do not tell them. */
  escalations?: EscalationsOfReport;
}

/** What the partner persona service reported on the day. */
export class TrustIntelligenceSection {
  /** Confidence updates that came in. @example 4 */
  scoresCompleted!: number;
  /** The mean of the confidences they told, 0 to 1; null without any. @example 0.62 */
  averageScore!: number | null;
  /**
   * The metric, beside overall, whose confidences were the lowest on average; null without any.
   * @example 'price_fit'
   */
  topGap!: string | null;
}

/** What models cost for one capo. */
export class CapoCostView {
  /** The capo; null: before one was chosen. @example 'capo_ops' */
  capo!: string | null;
  /** ISO 4217 code. @example 'USD' */
  currency!: string;
  /** What was paid. @example 0.0123 */
  amount!: number;
}

/** What one model cost. */
export class ModelCostView {
  /** Its name; null: of drafts that failed. @example 'claude-sonnet' */
  model!: string | null;
  /** ISO 4217 code. @example 'USD' */
  currency!: string;
  /** What was paid. @example 0.0123 */
  amount!: number;
  /** Tokens that it read. @example 2100 */
  tokensIn!: number;
  /** Tokens that it wrote. @example 380 */
  tokensOut!: number;
  /** How many times it was paid for. @example 3 */
  calls!: number;
}

/** What model calls may use on one day. */
export class ReportedBudgetView {
  /** How much. @example 10 */
  limit!: number;
  /** Of what: amount, or tokens where the prices of the model are not known. @example 'amount' */
  unit!: 'amount' | 'tokens';
  /** USD; null where tokens are counted. @example 'USD' */
  currency!: 'USD' | null;
}

/** What models cost on the day: in US dollars, whatever the workspace's currency. */
export class CostLedgerSection {
  /** The sum in US dollars. @example 0.0123 */
  total!: number;
  /** ISO 4217 code: USD. @example 'USD' */
  currency!: string;
  /**
   * The sums in other currencies, unconverted; empty as long as models are paid in US dollars.
   * @example {}
   */
  byCurrency!: Record<string, number>;
  /**
   * By capo and currency.
   */
  byCapo!: CapoCostView[];
  /**
   * By model and currency.
   */
  byModel!: ModelCostView[];
  /**
   * What model calls may use on one day.
   */
  budget!: ReportedBudgetView;
}

/** The guardian as the report is made, and what it blocked on the day. */
export class GuardianStateSection {
  /** observe, supervised, guardrailed, autonomous, killed or recovering @example 'guardrailed' */
  mode!: string;
  /**
   * Work packets of drafts that wait for a person; approvalQueue counts every approval that waits, whatever it is about.
   * @example 3
   */
  pendingMoves!: number;
  /** Work packets that were denied on the day. @example 1 */
  blockedMoves!: number;
  /** How often the kill switch was engaged on the day. @example 1 */
  kills?: number;
  /** How often it was reverted on the day. @example 1 */
  reverts?: number;
  /** How often a revert began to undo work packets on the day. @example 0 */
  recoveries?: number;
  /** Each kill and revert, with who did it, the first 20. */
  acts?: ReportedActView[];
}

/** A directive under way. */
export class ReportedDirectiveView {
  /** The id of the directive. @example 'dir_01khqw6q006hs686p8sr7arg9t' */
  directiveId!: string;
  /** Its capo; null until one was chosen. @example 'capo_ops' */
  capo!: CapoRole | null;
  /** Its first line. @example 'Email jane@acme.example' */
  title!: string;
  /** Until when it is to be done, ISO 8601; null: nobody said. @example '2026-02-20T15:12:00.000Z' */
  deadline!: string | null;
}

/** Directives that have not ended and wait for no person as the report is made. */
export class TomorrowQueueSection {
  /** How many there are. @example 2 */
  total!: number;
  /**
   * The first 20 of them, by deadline.
   */
  items!: ReportedDirectiveView[];
}

/** The sections that are on. */
export class ReportSectionsView {
  /**
   * What was earned.
   */
  revenue?: RevenueSection;
  /**
   * What the capos did.
   */
  agentActivity?: AgentActivitySection;
  /**
   * What waits for a person.
   */
  approvalQueue?: ApprovalQueueSection;
  /**
   * What the partner persona service reported.
   */
  trustIntelligence?: TrustIntelligenceSection;
  /**
   * What models cost.
   */
  costLedger?: CostLedgerSection;
  /**
   * The guardian.
   */
  guardianState?: GuardianStateSection;
  /**
   * Directives under way.
   */
  tomorrowQueue?: TomorrowQueueSection;
}
