import { IsOptional, Matches, IsIn, IsString } from 'class-validator';
import { ApiProperty } from '@nestjs/swagger';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { PageFacts } from '../../platform/kernel/pages.dto.js';
import { IsNotBlank } from '../../platform/kernel/plain-text.js';
import { MaxLength } from '../../platform/kernel/text-length.js';
import { ONE_LINE } from '../../platform/kernel/text.js';
import type { GuardianMode } from '../terms/index.js';

/** The parameter of the paths, as it is documented. */
export const CHECKPOINT_PARAM = {
  name: 'checkpointId',
  description: 'The id of the checkpoint.',
  example: 'chk_01khqx3v2gs0a0k4y6t1r8m5cd',
};

/** Body of `POST /guardian/checkpoint`; it may be empty. */
export class TakeCheckpointBody {
  /** Its purpose, one line of 1 to 120 characters. @example 'Before the spring price list' */
  @IsOptional()
  @MaxLength(120)
  @Matches(/\S/, { message: '$property must be one line of 1 to 120 characters' })
  @Matches(ONE_LINE, { message: '$property must be one line of 1 to 120 characters' })
  @IsNotBlank()
  label?: string | null;
}

/** A checkpoint without what it holds. */
export class GuardianCheckpointSummary {
  /** The id of the checkpoint. @example 'chk_01khqx3v2gs0a0k4y6t1r8m5cd' */
  checkpointId!: string;
  /** Its purpose; null: none was given. @example 'Before the spring price list' */
  label!: string | null;
  /** When it was taken, Unix milliseconds. @example 1771402200000 */
  createdAt!: number;
  /** Who took it, or did what it was taken before. */
  createdBy!: ActorView;
  /**
   * Whether it was taken by itself, before a kill, an activation, a restore or the installation of a skill pack.
   * @example false
   */
  auto!: boolean;
  /** The number of the last receipt before it: what came behind that receipt happened since. @example 1201 */
  receiptSeq!: number;
  /** The hash of that receipt. @example '5f0c1c0ffb0f4d1b9a6d5f0d7f3fbb1c2f3a4b5c6d7e8f90123456789abcdef0' */
  receiptHash!: string;
  /**
   * SHA-256 of the canonical JSON (RFC 8785) of the whole record without this field.
   * @example '9d5ed678fe57bcca610140957afab571b5a0b5f3f0c6f8d1e2a3b4c5d6e7f809'
   */
  hash!: string;
}

/** Which version of a standing order was in force; versions never change. */
export class GuardianCheckpointOrder {
  /** The id of the standing order. @example 'so_01kerr2kg0xaen9f9sdsg8py4z' */
  standingOrderId!: string;
  /** The number of the version. @example 2 */
  version!: number;
  /** The hash of the version. @example '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae' */
  hash!: string;
  /** active: it decided; shadow: its decisions were only recorded @example 'active' */
  status!: 'active' | 'shadow';
}

/** What a revert can go back to. */
class GuardianCheckpointSnapshot {
  /** The mode of the guardian; while it was killed or recovering, the mode before. @example 'guardrailed' */
  mode!: string;
  /** The versions of standing orders that were in force, as far as the caller may see the orders. */
  orders!: GuardianCheckpointOrder[];
  /**
   * The settings of the workspace, in the names of `GET /settings`; of the retention only what was set.
   * @example { "timezone": "Europe/Vienna", "currency": "EUR", "presence": "present" }
   */
  settings!: Record<string, unknown>;
}

/** A checkpoint of the guardian. */
export class GuardianCheckpointView extends GuardianCheckpointSummary {
  /** What was in force. */
  snapshot!: GuardianCheckpointSnapshot;
}

export class GuardianCheckpointPage extends PageFacts {
  /** The checkpoints of this page, newest first. */
  items!: GuardianCheckpointSummary[];
}

/** The guardian's state (`GET /guardian`). */
export class GuardianView {
  /**
   * observe (nothing leaves), supervised (everything asks), guardrailed (standing orders decide), autonomous (what
   * can be undone is allowed), killed or recovering
   * @example 'guardrailed'
   */
  mode!: GuardianMode;
  /** Approvals that wait for a person. @example 1 */
  pending!: number;
  /** How many kills there have been. @example 0 */
  epoch!: number;
  /** When the kill switch was engaged, Unix milliseconds; null while it is not. */
  killedAt!: number | null;
  /** Who engaged it; null while it is not engaged. */
  @ApiProperty({ example: null })
  killedBy!: ActorView | null;
  /** Why it was engaged; null: no reason was given, or it is not engaged. */
  reason!: string | null;
  /** The newest checkpoint of the guardian; null: there is none. */
  lastCheckpointId!: string | null;
  /** Work packets denied in the last 24 hours. @example 0 */
  blocked24h!: number;
}

/** Body of the kill switch; it may be empty. */
export class KillBody {
  /** Why, for the receipt; at most 1,000 characters. @example 'The price list is wrong.' */
  @IsOptional()
  @IsString()
  @MaxLength(1000)
  reason?: string;
}

class HaltedWork {
  /** Directives that waited for their turn. @example 1 */
  queued!: number;
  /** Directives that were being drafted. @example 0 */
  executing!: number;
  /** Directives whose work packets were being carried out. @example 1 */
  sending!: number;
  /**
   * Action requests of agents from outside that were allowed and not consumed; they never can be any more.
   * @example 0
   */
  voided!: number;
}

export class UnconfirmedPacket {
  /** The id of the work packet; left out for an action request. @example 'pkt_01khqw6sb0xg7v9zhwnqcrxds8' */
  workPacketId?: string;
  /**
   * The id of the action request of an agent from outside; left out for a work packet.
   * @example 'act_01khqw6sb0xg7v9zhwnqcrxds8'
   */
  actionRequestId?: string;
  /** When it was handed out, Unix milliseconds. @example 1771401691000 */
  since!: number;
}

export class KillAnswer {
  /** Always `killed`. @example 'killed' */
  mode!: 'killed';
  /** False when the switch was engaged already. @example true */
  changed!: boolean;
  /** How many kills there have been, this one included. @example 1 */
  epoch!: number;
  /** When the kill switch was engaged, Unix milliseconds. @example 1771402800000 */
  killedAt!: number;
  /**
   * The receipt of the kill; null when the switch was engaged already.
   * @example 'rcp_01khqxbaw0pdd5aew2rfzv11fe'
   */
  receiptId!: string | null;
  /** How many directives were halted, by their status before. */
  halted!: HaltedWork;
  /** Work packets that were already handed out; whether they arrived is not known yet. */
  unconfirmed!: UnconfirmedPacket[];
}

export class ModeBody {
  /**
   * How much the guardian lets pass: nothing, only what a person approved, what standing orders allow, or all that
   * can be undone.
   * @example 'supervised'
   */
  @IsIn(['observe', 'supervised', 'guardrailed', 'autonomous'])
  mode!: 'observe' | 'supervised' | 'guardrailed' | 'autonomous';
}
