import { IsIn, IsOptional, Matches } from 'class-validator';
import { PageQuery } from '../../../platform/kernel/pages.dto.js';
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

export class PacketAction {
  type!: string;
  target!: string | null;
  params!: Record<string, unknown>;
}

export class PacketDecision {
  outcome!: string;
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

/** One move of a capo. */
export class WorkPacketView {
  workPacketId!: string;
  directiveId!: string;
  teamId!: string | null;
  capo!: string;
  engine!: string;
  title!: string;
  kind!: string;
  action!: PacketAction;
  reversibility!: string;
  compensation!: object | null;
  status!: (typeof PACKET_STATUSES)[number];
  decision!: PacketDecision | null;
  /** The action type's base times the product of the multipliers. */
  leverageScore!: number;
  multipliers!: Record<string, number>;
  rationale!: string;
  cost!: PacketCost;
  attempts!: number;
  result!: Record<string, unknown> | null;
  /** Unix milliseconds. */
  createdAt!: number;
  /** Unix milliseconds. */
  executedAt!: number | null;
  receiptId!: string | null;
}

export class WorkPacketPage {
  items!: WorkPacketView[];
  total!: number;
  limit!: number;
  offset!: number;
}
