import { type CapoRole, type Cost, NO_COST, type Priority } from '../terms/index.js';
import type { OutsideTargets } from './outside-targets.js';
import type { SignalView } from '../records/index.js';

/** The input of every capo execution, for each runner (specification: "Context"). Plain data, ready to be stored. */
export interface Briefing {
  workspace: { workspaceId: string; name: string; timezone: string; locale: string };
  operator: { handle: string; tier: string };
  /** In whose name mails are signed. */
  sender: Sender;
  directive: DirectiveBrief;
  /** Earlier rounds of "request changes", oldest first; empty for a first draft. */
  feedback: readonly FeedbackRound[];
  signals: readonly SignalBrief[];
  standingOrders: readonly StandingOrderBrief[];
  buyerContext: BuyerContext;
  metrics: {
    /** The workspace's, in which revenue24h is given. */
    currency: string;
    revenue24h: number;
    /** In the other currencies, unconverted. */
    revenue24hByCurrency: Readonly<Record<string, number>>;
    signalsScored: number;
  };
  guardian: { mode: string; pending: number };
  recentPackets: readonly PacketBrief[];
  /** What an admin of the workspace has installed for the capo; it is told to follow them, below the rules and the policy. */
  skills: readonly SkillBrief[];
  /** What can be reached outside besides mail. */
  targets: OutsideTargets;
  /** What was counted by day; there only where the directive speaks of figures. */
  figures?: Figures;
  /** Unix milliseconds; runners never look at a clock of their own. */
  now: number;
}

export interface Sender {
  name: string;
  /** Stands below the name, at the end of a mail; may have several lines. */
  signature: string | null;
  /** Where answers go. It is no runner's to say: `withReplyTo` sets it. */
  replyTo: string | null;
}

export interface DirectiveBrief {
  directiveId: string;
  text: string;
  capo: CapoRole;
  priority: Priority;
  context: Readonly<Record<string, unknown>> | null;
  /** ISO 8601 */
  deadline: string | null;
}

export interface FeedbackRound {
  round: number;
  text: string;
  /** The draft that the operator sent back. */
  previous: PreviousDraft;
}

/** What a person saw, with their own edits in it. */
interface PreviousDraft {
  summary: string;
  body: string;
  packets: readonly PreviousPacket[];
}

export interface PreviousPacket extends Pick<DraftPacket, 'title' | 'type' | 'params' | 'rationale'> {
  /** What a person had still to supply. */
  needsInput?: readonly NeededInput[];
  /** The parts that a person has written, such as `params.body`; `params` for one that was added whole. */
  editedPaths?: readonly string[];
}

type SignalBrief = Pick<
  SignalView,
  'signalId' | 'type' | 'severity' | 'title' | 'body' | 'score' | 'createdAt'
>;

export interface StandingOrderBrief {
  name: string;
  text: string;
  effect: 'allow' | 'require_approval' | 'deny' | 'throttle';
  /** The capos it names; empty means all of them. */
  capos: readonly CapoRole[];
}

/** A skill of an installed skill pack. */
export interface SkillBrief {
  /** The name of the pack. */
  pack: string;
  name: string;
  description?: string;
  /** What the capo is told whenever it drafts. */
  instructions?: string;
  inputs: Readonly<Record<string, unknown>>;
  outputs: Readonly<Record<string, unknown>>;
}

interface BuyerProfile {
  buyerId: string;
  segment: string | null;
  stage: string | null;
  /** 0 to 1 */
  confidence: number | null;
  topGap: string | null;
  updatedAt: number;
  /** Known only when the partner persona service or the operator supplied them. */
  name?: string;
  email?: string;
}

interface BuyerContext {
  profiles: readonly BuyerProfile[];
  aggregate: { count: number; averageConfidence: number | null; topGap: string | null };
}

export interface Figures {
  /** The first day, such as `2026-12-01`; days are those of the workspace's zone. */
  since: string;
  /** Days on which something happened, oldest first. */
  days: readonly {
    day: string;
    /** By currency. */
    revenue: Readonly<Record<string, number>>;
    /** Those decided, by status. */
    approvals: Readonly<Record<string, number>>;
    /** Those raised, by severity. */
    signals: Readonly<Record<string, number>>;
  }[];
  /** Those that wait for a person, the oldest first. */
  openApprovals: readonly { title: string; requestedAt: number }[];
}

interface PacketBrief {
  workPacketId: string;
  title: string;
  type: string;
  status: string;
  createdAt: number;
}

/**
 * What a runner answers. Reversibility, compensation and base score are not in here: the registry adds them. Nor are
 * summary and body, which are made from the packets (`draft-output.ts`).
 */
export interface Draft {
  /** In the runner's own words what it did, and what it could not do; shown beside the draft, never sent. */
  remarks: string;
  packets: DraftPacket[];
  /** Why this is more dangerous than its packets show. */
  concerns: Concern[];
  engine: { name: string; model: string | null };
  cost: Cost;
}

/** What is made of the instruction; engine and cost are how. */
export type DraftContent = Pick<Draft, 'remarks' | 'packets' | 'concerns'>;

export interface DraftPacket {
  title: string;
  type: string;
  target: string;
  params: Record<string, unknown>;
  rationale: string;
  multipliers: Record<string, number>;
  /** What a person must supply before it may be approved; empty when it is complete. */
  needsInput: NeededInput[];
}

export interface NeededInput {
  /** Within the packet, such as `params.body`. */
  path: string;
  /** A sentence for the person who is to supply it. */
  message: string;
}

export interface Concern {
  risk: 'high' | 'critical';
  /** A sentence for the person who decides. */
  reason: string;
}

export interface CapoRunner {
  /** How many drafts of one workspace it makes at a time in this process, so that no workspace takes all of it. */
  readonly perWorkspace: number;
  /** It asks nobody outside and costs nothing, so nothing has to be recorded before it drafts. */
  readonly isFree?: boolean;
  /** Rejects with `RunnerFailed`; any other error is a defect of the runner. */
  run(briefing: Briefing, options: { signal: AbortSignal }): Promise<Draft>;
}

export type RunnerFailure =
  /** It answered with a server error, with something that is no answer at all, or could not be reached. */
  | 'provider_unavailable'
  /** It asked to be called later. */
  | 'rate_limited'
  /** It does not know the key, or the key may not use the model. */
  | 'unauthorized'
  /** It takes no request like this one: an unknown model, too long a text. */
  | 'request_rejected'
  /** The workspace's budget for model calls is used up for today, or too small for a single call. */
  | 'model_budget_exceeded'
  | 'invalid_output'
  | 'refused'
  | 'timeout'
  | 'out_of_memory'
  | 'crashed'
  /** By whom the run was for: nobody waits for the outcome. */
  | 'aborted';

/** `message` is fit for an operator's eyes: it may hold the provider's own reason, but never a key. */
export class RunnerFailed extends Error {
  override readonly name = 'RunnerFailed';

  constructor(
    readonly code: RunnerFailure,
    message: string,
    /** Whether the same briefing may succeed later. */
    readonly retryable: boolean,
    /** Tokens were paid for even when nothing usable came back. */
    readonly cost: Cost = NO_COST,
    /** When it may succeed, if the refusal said so. */
    readonly waitMs?: number,
  ) {
    super(message);
  }
}
