import { IsIn, IsOptional } from 'class-validator';
import { IsCalendarDate } from '../../platform/kernel/calendar-date.js';
import { PageFacts } from '../../platform/kernel/pages.dto.js';
import type { EscalationKind } from '../escalations/index.js';
import { OutsideAgentFigures } from '../kpi/index.js';
import type { CapoRole, Priority } from '../terms/index.js';
import type { CapoFigures } from '../verifier/index.js';
import type { ReportFormat } from './report.js';

/** An amount that was recorded on the day. */
class ReportedEventView {
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
  /** When it was earned, ISO 8601; the report has what was recorded on its day. @example '2026-02-17T15:12:00.000Z' */
  occurredAt!: string;
}

/** What was recorded as earned on the day. */
class RevenueSection {
  /** The sum in the workspace's currency. @example 1204.5 */
  total!: number;
  /** ISO 4217 code: that of the workspace's settings. @example 'EUR' */
  currency!: string;
  /** The sums in other currencies, unconverted. @example { "USD": 100 } */
  byCurrency!: Record<string, number>;
  /** How many events there were. @example 31 */
  eventsTotal!: number;
  /** The first 20 of them. */
  events!: ReportedEventView[];
}

/** The kind of a record and its id. */
class ReportedEntityView {
  /** What kind of record it is. @example 'work_packet' */
  type!: string;
  /** The id of the record. @example 'pkt_01khqw6q006hs686p8sr7arg9t' */
  id!: string;
}

/** An act of the day, as its receipt tells it. */
class ReportedActView {
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
class ReportedAgentView extends OutsideAgentFigures {
  /**
   * The tool that was asked for; of an agent that asked for more than 20, `other tools` are those beyond.
   * @example 'crm.refund'
   */
  tool!: string;
  /** The newest of these requests. @example 'act_01khqw6sb0xg7v9zhwnqcrxds8' */
  actionRequestId!: string;
}

/** What the capos did on the day. Reports that were made by earlier versions have only the first three numbers and `capos`. */
class AgentActivitySection {
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
class ReportedApprovalView {
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
class ReportedEscalationView {
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
class EscalationsOfReport {
  /** How many are open. @example 1 */
  open!: number;
  /** The first 20 of them, the most urgent first. */
  items!: ReportedEscalationView[];
}

/** What waits for a person as the report is made. */
class ApprovalQueueSection {
  /** Approvals that wait. @example 3 */
  pending!: number;
  /** Those of them that are urgent. @example 1 */
  urgent!: number;
  /** The first 20 of them, urgent ones first. */
  items!: ReportedApprovalView[];
  /** Escalations that wait. Reports that were made by earlier versions do not tell them. */
  escalations?: EscalationsOfReport;
}

/** What the partner persona service reported on the day. */
class TrustIntelligenceSection {
  /** Confidence updates that came in. @example 4 */
  scoresCompleted!: number;
  /** The mean of the confidences they told, 0 to 1; null without any. @example 0.62 */
  averageScore!: number | null;
  /** The metric, beside overall, whose confidences were the lowest on average; null without any. @example 'price_fit' */
  topGap!: string | null;
}

/** What models cost for one capo. */
class CapoCostView {
  /** The capo; null: before one was chosen. @example 'capo_ops' */
  capo!: string | null;
  /** ISO 4217 code. @example 'USD' */
  currency!: string;
  /** What was paid. @example 0.0123 */
  amount!: number;
}

/** What one model cost. */
class ModelCostView {
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
class ReportedBudgetView {
  /** How much. @example 10 */
  limit!: number;
  /** Of what: amount, or tokens where the prices of the model are not known. @example 'amount' */
  unit!: 'amount' | 'tokens';
  /** USD; null where tokens are counted. @example 'USD' */
  currency!: 'USD' | null;
}

/** What models cost on the day: in US dollars, whatever the workspace's currency. */
class CostLedgerSection {
  /** The sum in US dollars. @example 0.0123 */
  total!: number;
  /** ISO 4217 code: USD. @example 'USD' */
  currency!: string;
  /** The sums in other currencies, unconverted; empty as long as models are paid in US dollars. @example {} */
  byCurrency!: Record<string, number>;
  /** By capo and currency. */
  byCapo!: CapoCostView[];
  /** By model and currency. */
  byModel!: ModelCostView[];
  /** What model calls may use on one day. */
  budget!: ReportedBudgetView;
}

/** The guardian as the report is made, and what it blocked on the day. */
class GuardianStateSection {
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
class ReportedDirectiveView {
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
class TomorrowQueueSection {
  /** How many there are. @example 2 */
  total!: number;
  /** The first 20 of them, by deadline. */
  items!: ReportedDirectiveView[];
}

/** The sections that are on. */
class ReportSectionsView {
  /** What was earned. */
  revenue?: RevenueSection;
  /** What the capos did. */
  agentActivity?: AgentActivitySection;
  /** What waits for a person. */
  approvalQueue?: ApprovalQueueSection;
  /** What the partner persona service reported. */
  trustIntelligence?: TrustIntelligenceSection;
  /** What models cost. */
  costLedger?: CostLedgerSection;
  /** The guardian. */
  guardianState?: GuardianStateSection;
  /** Directives under way. */
  tomorrowQueue?: TomorrowQueueSection;
}

/** A section of the workspace's own, as a capo wrote it for this report. */
class WrittenSectionView {
  /** The id of the section. @example 'sec_01khqw6q006hs686p8sr7arg9t' */
  sectionId!: string;
  /** Its name. @example 'Pipeline' */
  title!: string;
  /** Who wrote it. @example 'capo_revenue' */
  capo!: CapoRole;
  /** pending while it is being written, done, failed, or late: it was not written in time @example 'done' */
  status!: 'pending' | 'done' | 'failed' | 'late';
  /** Markdown; null unless it is done. @example 'Two offers are out.' */
  body!: string | null;
  /** Why it is not there; null where it is. */
  error!: string | null;
}

/** The receipts that the numbers of the day are counted from. */
class ReceiptRangeView {
  /** The number of the first. @example 1021 */
  from!: number;
  /** The number of the last; below `from`: there were none. @example 1204 */
  to!: number;
}

/** The last receipt as the report was made: what is open is told as of then. */
class ReceiptHeadView {
  /** Its number. @example 1236 */
  seq!: number;
  /** Its hash. @example 'd04b98f48e8f8bcc15c6ae5ac050801cd6dcfd428fb5f9e65c4e16e7807340fa' */
  hash!: string;
}

/** The Daily Report (SPECIFICATION, Daily Report). Times in it are ISO 8601. */
export class DailyReportView {
  /** The id of the report; the day has it before its report is made, too. @example 'rpt_01khq1ntg0a5m3k4s8xw2v7c9d' */
  reportId!: string;
  /** The day, YYYY-MM-DD in the zone. @example '2026-02-17' */
  date!: string;
  /** The zone in which the day began and ended. @example 'Europe/Vienna' */
  timezone!: string;
  /** When it was made, ISO 8601. @example '2026-02-18T06:00:00.412Z' */
  generatedAt!: string;
  /**
   * True: the report has not been made yet, and its numbers may still change. So it is for a day that is not over, and for one
   * whose report is to be made later, and what a member gets who does not see what every team does: it counts what they may see.
   * @example false
   */
  partial!: boolean;
  /** ISO 4217 code: the workspace's, in which single numbers of revenue are given. @example 'EUR' */
  currency!: string;
  /** The day in one line. @example '12 directives executed, 1,204.50 EUR earned, 3 approvals waiting (1 urgent).' */
  headline!: string;
  /** The sections that are on. */
  sections!: ReportSectionsView;
  /** Sections of the workspace's own; none while the report is partial. */
  customSections!: WrittenSectionView[];
  /** The receipts of the day. */
  receiptRange!: ReceiptRangeView;
  /** The last receipt as it was made. */
  receiptHead!: ReceiptHeadView;
}

/** Whether the report was mailed. */
class ReportDeliveryState {
  /** email, or none: mail was off @example 'email' */
  channel!: 'none' | 'email';
  /** none, waiting, sending, sent or failed @example 'sent' */
  status!: 'none' | 'waiting' | 'sending' | 'sent' | 'failed';
  /** When that ended, ISO 8601; null: it has not. @example '2026-02-18T06:00:02.101Z' */
  at!: string | null;
}

/** What became of the mail of a report to one recipient. */
class ReportRecipientView {
  /** The member; null: an address. @example 'mem_01kerq74k0wtbyzq0h359nrdxj' */
  memberId!: string | null;
  /** The address, for admins; null for a member. @example null */
  address!: string | null;
  /** none, waiting, sending, sent or failed @example 'failed' */
  status!: 'none' | 'waiting' | 'sending' | 'sent' | 'failed';
  /** When that ended, ISO 8601; null: it has not. @example '2026-02-18T06:00:02.101Z' */
  at!: string | null;
  /**
   * Why it was not mailed, or not yet; null: it was, or waits for its first attempt.
   * @example 'The mail server refused the recipient: 550 No such mailbox'
   */
  error!: string | null;
}

/** Body of `POST /reports/{reportId}/resend`. */
export class ResendReportBody {
  /** To all recipients that are configured now, unless `failed`: only to those whose last mail failed. @example 'failed' */
  @IsOptional()
  @IsIn(['all', 'failed'])
  to?: 'all' | 'failed';
}

/** A report in the history. */
export class ReportSummary {
  /** The id of the report. @example 'rpt_01khq1ntg0a5m3k4s8xw2v7c9d' */
  reportId!: string;
  /** The day, YYYY-MM-DD. @example '2026-02-17' */
  date!: string;
  /** When it was made, ISO 8601. @example '2026-02-18T06:00:00.412Z' */
  generatedAt!: string;
  /** email, plain-text or json @example 'email' */
  format!: ReportFormat;
  /** schedule, or on-demand: somebody asked for it, and nobody else is told of it @example 'schedule' */
  trigger!: 'schedule' | 'on-demand';
  /** Whether it was mailed: what is still to come of all its mails, else whether one failed. */
  delivery!: ReportDeliveryState;
  /** What became of each mail; none where it was mailed to nobody. */
  recipients!: ReportRecipientView[];
  /** The day in one line. @example '12 directives executed, 3 approvals waiting.' */
  headline!: string;
}

/** A page of the reports that were made. */
export class ReportPage extends PageFacts {
  /** The latest day first. */
  items!: ReportSummary[];
}

/** Query of `GET /reports/daily`. */
export class DailyQuery {
  /** The day, YYYY-MM-DD in the zone of the reports; the last one that is over, unless said. @example '2026-02-17' */
  @IsOptional()
  @IsCalendarDate()
  date?: string;
}
