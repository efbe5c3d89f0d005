import { SignalView } from '../signals/signals.dto.js';
import { StandingOrderSummary } from '../standing-orders/standing-orders.dto.js';
import { WorkPacketSummary } from '../directives/packets/work-packets.dto.js';
import { ReceiptItem } from '../audit/audit-feed.dto.js';
import { BuyerContextView, PartnerPersona } from '../partner/partner.dto.js';

export class ContextOperator {
  handle!: string;
  tier!: string;
}

export class ContextMetrics {
  /** Revenue of the last 24 hours, in the workspace's currency alone; GET /metrics has the others. */
  revenue24h!: number;
  /** Signals that carry a score. */
  signalsScored!: number;
}

export class ContextGuardian {
  mode!: string;
  /** Moves that wait for a person. */
  pending!: number;
}

export class ContextReceiptHead {
  seq!: number;
  hash!: string;
}

/** The whole operational context (SPECIFICATION, Context). */
export class ContextView {
  /** ISO 8601 */
  generatedAt!: string;
  sessionId!: string;
  operator!: ContextOperator;
  signals!: SignalView[];
  workPackets!: WorkPacketSummary[];
  standingOrders!: StandingOrderSummary[];
  metrics!: ContextMetrics;
  auditFeed!: ReceiptItem[];
  guardian!: ContextGuardian;
  buyerContext!: BuyerContextView;
  partner!: PartnerPersona;
  receiptHead!: ContextReceiptHead;
}
