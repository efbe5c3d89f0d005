import type { Effect } from '../standing-orders/standing-order.js';
import type { GuardianMode } from '../terms/terms.js';

/** What can be looked up for an answer. */
export const SUBJECTS = [
  'waiting',
  'record',
  'directives',
  'signals',
  'revenue',
  'cost',
  'standing_orders',
  'guardian',
  'buyers',
] as const;
export type Subject = (typeof SUBJECTS)[number];

/** What to look up; `id` names the record, and belongs to no other subject. */
export interface LookUp {
  subject: Subject;
  id: string | null;
}

/** What was found; null: there is no such record, or the member may not see it. */
export interface Found extends LookUp {
  facts: object | null;
}

/** How far is counted what no tally counts. */
export const MAX_COUNTED = 1_000;

export interface WaitingFacts {
  approvals: {
    approvalId: string;
    directiveId: string;
    title: string;
    capo: string | null;
    risk: string;
    ready: boolean;
    inputsNeeded: number;
    expiresAt: number;
  }[];
  approvalsInAll: number;
  escalations: {
    escalationId: string;
    kind: string;
    reason: string;
    options: string[];
    dueAt: number | null;
  }[];
  /** Counted up to {@link MAX_COUNTED}. */
  escalationsInAll: number;
}

/** A decision about a work packet, as policy_decisions holds it. */
export interface DecisionFacts {
  decisionId: string;
  at: number;
  outcome: string;
  explanation: string[];
  standingOrderIds: string[];
  mode: string;
}

export interface PacketFacts {
  workPacketId: string;
  directiveId: string;
  title: string;
  type: string;
  target: string | null;
  params: unknown;
  status: string;
  capo: string;
  allowedBy: string | null;
  failure: string | null;
  /** The newest first. */
  decisions: DecisionFacts[];
}

export interface ApprovalFacts {
  approvalId: string;
  directiveId: string;
  title: string;
  status: string;
  ready: boolean;
  risk: string;
  explanation: string[] | null;
  decidedBy: string | null;
  decidedAt: number | null;
  feedback: string | null;
  expiresAt: number;
}

export interface DirectiveFacts {
  directiveId: string;
  text: string;
  status: string;
  capo: string | null;
  routing: string | null;
  error: string | null;
  createdBy: string;
  createdAt: number;
  /** The first ones. */
  packets: PacketFacts[];
  packetsInAll: number;
  approvals: ApprovalFacts[];
}

/** A standing order; what else is read of it is for a model. */
export interface OrderRecord {
  standingOrderId: string;
  name: string;
  text: string;
  status: string;
  effect: Effect;
  capos: string[] | null;
  version: number;
  heldBecause: string | null;
  expiresAt: number | null;
  activatedAt: number | null;
}

export interface SignalRecord {
  signalId: string;
  type: string;
  severity: string;
  title: string;
  body: string;
  createdAt: number;
  acknowledgedAt: number | null;
}

/** A directive, by its own id or that of its work packet or approval; a standing order or a signal by its own. */
export type RecordFacts = { asked: string } & (
  { directive: DirectiveFacts } | { order: OrderRecord } | { signal: SignalRecord }
);

export interface SumFacts {
  timezone: string;
  currency: string;
  /** By period and currency; what is missing is 0. */
  sums: { period: Period; currency: string; amount: number }[];
}

export const PERIODS = ['today', 'yesterday', 'this week', 'last week', 'this month', 'last month'] as const;
export type Period = (typeof PERIODS)[number];

export interface SignalFacts {
  signals: {
    signalId: string;
    type: string;
    severity: string;
    title: string;
    body: string;
    createdAt: number;
  }[];
  inAll: number;
}

export interface OrderFacts {
  orders: {
    standingOrderId: string;
    name: string;
    text: string;
    effect: string;
    capos: string[] | null;
    expiresAt: number | null;
  }[];
  inAll: number;
}

export interface GuardianFacts {
  mode: GuardianMode;
  pending: number;
  killedAt: number | null;
  killedBy: string | null;
  reason: string | null;
  /** The newest first, as far as the member may read the receipts. */
  changes: GuardianChange[];
}

/** What somebody did to the guardian, as a receipt says. */
export interface GuardianChange {
  receiptId: string;
  action: 'guardian.killed' | 'guardian.recovering' | 'guardian.reverted' | 'guardian.mode_changed';
  at: number;
  /** Null: the program, at the end of a revert. */
  by: string | null;
  reason: string | null;
  /** The mode that was set. */
  mode: string | null;
  /** In which it lies. */
  periods: Period[];
}

export interface DirectivesFacts {
  directives: {
    directiveId: string;
    title: string;
    capo: string | null;
    status: string;
    createdAt: number;
  }[];
}
