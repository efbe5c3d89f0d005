import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString } from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { MaxLength } from '../../platform/kernel/text-length.js';
import type { GuardianMode } from '../terms/index.js';

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

export class HaltedWork {
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
