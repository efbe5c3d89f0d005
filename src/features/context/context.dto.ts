import { PickType } from '@nestjs/swagger';
import { SignalView } from '../records/index.js';
import { StandingOrderSummary } from '../standing-orders/index.js';
import { WorkPacketSummary } from '../directives/index.js';
import { ChainHead, ReceiptItem } from '../audit/index.js';
import { GuardianView } from '../guardian/index.js';
import { BuyerContextView, PartnerPersona } from '../partner/index.js';
import { ProfileOperator } from '../workspaces/index.js';

export class ContextOperator extends PickType(ProfileOperator, ['handle', 'tier']) {}

export class ContextMetrics {
  /**
   * Revenue of the last 24 hours, in the currency of the workspace alone; `GET /metrics` has the others.
   * @example 600.5
   */
  revenue24h!: number;
  /** Signals that carry a score. @example 2 */
  signalsScored!: number;
}

export class ContextGuardian extends PickType(GuardianView, ['mode', 'pending']) {}

export class ContextReceiptHead extends PickType(ChainHead, ['seq', 'hash']) {}

/** The whole operational context (SPECIFICATION, Context). */
export class ContextView {
  /** When this was put together, ISO 8601. @example '2026-02-18T08:01:30.000Z' */
  generatedAt!: string;
  /** The session of the caller. @example 'tok_01kerqg9j0k7zrqfjnrxthcm4w' */
  sessionId!: string;
  /** Who calls. */
  operator!: ContextOperator;
  /** The newest 50 signals that the caller may see. */
  signals!: SignalView[];
  /** The newest 50 work packets that the caller may see. */
  workPackets!: WorkPacketSummary[];
  /** The newest 50 active standing orders that the caller may see. */
  standingOrders!: StandingOrderSummary[];
  /** Two figures of the workspace. */
  metrics!: ContextMetrics;
  /** The newest 50 receipts that the caller may see. */
  auditFeed!: ReceiptItem[];
  /** The state of the guardian. */
  guardian!: ContextGuardian;
  /** Who the buyers are. */
  buyerContext!: BuyerContextView;
  /** What the partner persona service has reported. */
  partner!: PartnerPersona;
  /** The end of the receipt chain. */
  receiptHead!: ContextReceiptHead;
}
