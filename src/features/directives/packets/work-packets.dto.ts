import { PickType } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, Matches } from 'class-validator';
import { PageFacts, TeamPageQuery } from '../../../platform/kernel/pages.dto.js';
import { MaxLength, MinLength } from '../../../platform/kernel/text-length.js';
import {
  ApprovalAction,
  ApprovalNeededInput,
  ApprovalReason,
  ApprovalWorkPacket,
} from '../../approvals/index.js';
import { CAPO_ROLES, type CapoRole } from '../../terms/index.js';
import { PACKET_STATUSES, type PacketStatus } from './work-packet.entity.js';

/** The parameter of the paths, as it is documented. */
export const WORK_PACKET_PARAM = {
  name: 'id',
  description: 'The id of the work packet.',
  example: 'pkt_01khqw6sb0xg7v9zhwnqcrxds8',
};

/** Body of `POST /work-packets/{id}/undo`. */
export class UndoPacketBody {
  /** Why, for the receipt; 1 to 1,000 characters. @example 'The price list was wrong.' */
  @IsString()
  @MinLength(1)
  @MaxLength(1000)
  reason!: string;
}

export class WorkPacketQuery extends TeamPageQuery {
  /** Only work packets of this status. @example 'executed' */
  @IsOptional()
  @IsIn(PACKET_STATUSES)
  status?: PacketStatus;

  /** Only work packets of this capo. @example 'capo_ops' */
  @IsOptional()
  @IsIn(CAPO_ROLES)
  capo?: CapoRole;

  /** Only work packets of this directive. @example 'dir_01khqw6q006hs686p8sr7arg9t' */
  @IsOptional()
  @Matches(/^dir_[0-9a-z]{26}$/, { message: 'directiveId must be the id of a directive' })
  directiveId?: string;
}

/** What a work packet does, and to whom. */
export class PacketActionSummary extends PickType(ApprovalAction, ['type', 'target']) {}

/** What a work packet does, with its complete parameters. */
export class PacketAction extends ApprovalAction {}

/** What the guardian decided about a work packet. */
export class PacketDecisionSummary extends PickType(ApprovalReason, ['outcome']) {}

/** What the guardian decided about a work packet, and why. */
export class PacketDecision extends PickType(ApprovalReason, ['outcome', 'explanation']) {
  /** The standing orders that were looked at, by id. @example ['so_01kerr2kg0xaen9f9sdsg8py4z'] */
  considered!: string[];
  /** The standing orders that matched, with what each one asks for. @example [] */
  matched!: object[];
  /** The limits and budgets that were looked at, with how much of each is used. @example [] */
  limits!: object[];
  /**
   * What each standing order in shadow that matched would have made of it; none of them had an effect.
   * @example []
   */
  shadow!: object[];
  /**
   * SHA-256 over everything the decision depended on, in hex.
   * @example 'c96c6d5be8d08a12e7b5cdc1b207fa6b2430974c86803d8891675e76fd992c20'
   */
  inputHash!: string;
}

export class PacketCost {
  /** The amount, in `currency`. @example 0 */
  amount!: number;
  /** ISO 4217 code. @example 'USD' */
  currency!: string;
}

/** Something that a work packet lacks. */
export class NeededInputView extends ApprovalNeededInput {}

/** What every view of a work packet shows. */
class WorkPacketFacts extends PickType(ApprovalWorkPacket, [
  'workPacketId',
  'title',
  'reversibility',
  'rationale',
]) {
  /** The directive that it belongs to. @example 'dir_01khqw6q006hs686p8sr7arg9t' */
  directiveId!: string;
  /** The team that it belongs to; null: none. */
  teamId!: string | null;
  /** The capo whose work it is. @example 'capo_ops' */
  capo!: string;
  /** The engine within whose scope it is carried out. @example 'ops' */
  engine!: string;
  /** document, message, call, signal, delegation, record or proposal @example 'message' */
  kind!: string;
  /** Where it stands. @example 'executed' */
  status!: PacketStatus;
  /** The action type's base times the product of the multipliers. @example 3 */
  leverageScore!: number;
  /** What the base is multiplied with, by name. @example {} */
  multipliers!: Record<string, number>;
  /** What it has cost. */
  cost!: PacketCost;
  /** How often it was tried. @example 1 */
  attempts!: number;
  /** Until when standing orders delay it, Unix milliseconds; it is decided again then. Null: they do not. */
  throttledUntil!: number | null;
  /** When it was drafted, Unix milliseconds. @example 1771401602400 */
  createdAt!: number;
  /** When it was carried out, Unix milliseconds; null: not yet. @example 1771401691800 */
  executedAt!: number | null;
  /** The receipt of its end; null until then. @example 'rcp_01khqw9gmry8wb9w8h9vccsbm7' */
  receiptId!: string | null;
}

/** One work packet of a capo, as lists show it. */
export class WorkPacketSummary extends WorkPacketFacts {
  /** What is carried out. */
  action!: PacketActionSummary;
  /** What the policy decided; null until it has. */
  decision!: PacketDecisionSummary | null;
}

/** One work packet of a capo with all that it sends and what came of it. */
export class WorkPacketView extends WorkPacketFacts {
  /** What is carried out. */
  action!: PacketAction;
  /** What a person has to supply before it may be approved; empty when it is complete. */
  needsInput!: NeededInputView[];
  /** What the policy decided; null until it has. */
  decision!: PacketDecision | null;
  /** The action that undoes it, from the trusted registry; null: there is none. */
  compensation!: object | null;
  /**
   * What the execution answered, or why it failed; the action type says which fields there are. Null until then. Of a mail,
   * `recipients` says for each recipient whether the mail server has `accepted` the mail, `deferred` it (it is tried again) or
   * `refused` it, with its answer and when; while the mail waits to be tried again, `error` has what the server said last.
   * @example { "accepted": ["jane@acme.example"], "rejected": [], "transport": "smtp", "response": "250 OK", "recipients": [{ "address": "jane@acme.example", "outcome": "accepted", "answer": "250 OK", "at": 1771401691800 }] }
   */
  result!: Record<string, unknown> | null;
  /**
   * When it is tried again, Unix milliseconds: after 1, 5, 15 and 30 minutes, then each hour for more than a day, where the other
   * side cannot take it now. Null where nothing waits for a time.
   */
  nextAttemptAt!: number | null;
}

export class WorkPacketPage extends PageFacts {
  /** The work packets of this page, newest first. */
  items!: WorkPacketSummary[];
}
