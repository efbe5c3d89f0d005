import { IsIn, IsOptional, Matches } from 'class-validator';
import { PageFacts, PageQuery } from '../../../platform/kernel/pages.dto.js';
import { CAPO_ROLES, type CapoRole } from '../../terms/terms.js';

export const PACKET_STATUSES = [
  'drafted',
  'awaiting_approval',
  'queued',
  'sending',
  'executed',
  'failed',
  'denied',
  'cancelled',
  'halted',
  'reverted',
] as const;

export class WorkPacketQuery extends PageQuery {
  @IsOptional()
  @IsIn(PACKET_STATUSES)
  status?: (typeof PACKET_STATUSES)[number];

  @IsOptional()
  @IsIn(CAPO_ROLES)
  capo?: CapoRole;

  @IsOptional()
  @Matches(/^dir_[0-9a-z]{26}$/, { message: 'directiveId must be the id of a directive' })
  directiveId?: string;
}

/** What a move does, and to whom. */
export class PacketActionSummary {
  type!: string;
  target!: string | null;
}

/** What a move does, with its complete parameters. */
export class PacketAction extends PacketActionSummary {
  params!: Record<string, unknown>;
}

/** What the guardian decided about a move. */
export class PacketDecisionSummary {
  /** allow, require_approval, deny or throttle */
  outcome!: string;
}

/** What the guardian decided about a move, and why. */
export class PacketDecision extends PacketDecisionSummary {
  /** In a person's words, what decided first. */
  explanation!: string[];
  considered!: string[];
  matched!: object[];
  limits!: object[];
  /** SHA-256 over everything the decision depended on. */
  inputHash!: string;
}

export class PacketCost {
  amount!: number;
  currency!: string;
}

/** One move of a capo, as lists show it. */
export class WorkPacketSummary {
  workPacketId!: string;
  directiveId!: string;
  teamId!: string | null;
  capo!: string;
  engine!: string;
  title!: string;
  kind!: string;
  action!: PacketActionSummary;
  reversibility!: string;
  status!: (typeof PACKET_STATUSES)[number];
  decision!: PacketDecisionSummary | null;
  /** The action type's base times the product of the multipliers. */
  leverageScore!: number;
  multipliers!: Record<string, number>;
  rationale!: string;
  cost!: PacketCost;
  attempts!: number;
  /** Unix milliseconds. */
  createdAt!: number;
  /** Unix milliseconds. */
  executedAt!: number | null;
  receiptId!: string | null;
}

/** One move of a capo with all that it sends and what came of it. */
export class WorkPacketView extends WorkPacketSummary {
  declare action: PacketAction;
  declare decision: PacketDecision | null;
  /** What undoes it. */
  compensation!: object | null;
  /** What the execution answered, or why it failed. */
  result!: Record<string, unknown> | null;
}

export class WorkPacketPage extends PageFacts {
  items!: WorkPacketSummary[];
}
