import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString } from 'class-validator';
import type { Role } from '../../platform/auth/caller.js';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { PageFacts, TeamPageQuery } from '../../platform/kernel/pages.dto.js';
import { MaxLength, MinLength } from '../../platform/kernel/text-length.js';
import { ReceiptEntity } from '../audit/index.js';
import {
  ESCALATION_KINDS,
  ESCALATION_STATUSES,
  type EscalationKind,
  type EscalationStatus,
} from './escalation.entity.js';

/** The parameter of the paths, as it is documented. */
export const ESCALATION_PARAM = {
  name: 'escalationId',
  description: 'The id of the escalation.',
  example: 'esc_01khqws0y0g13zyp5vc6y27gyg',
};

/** Query of `GET /escalations`; what is left out does not narrow it, but for the status. */
export class EscalationsQuery extends TeamPageQuery {
  /** Only escalations of this status. @example 'open' */
  @ApiPropertyOptional()
  @IsOptional()
  @IsIn(ESCALATION_STATUSES)
  status: EscalationStatus = 'open';

  /** Only escalations of this kind. @example 'approval_expiring' */
  @IsOptional()
  @IsIn(ESCALATION_KINDS)
  kind?: EscalationKind;
}

/** Body of `POST /escalations/decide`. */
export class DecideEscalationBody {
  /** The escalation. @example 'esc_01khqws0y0g13zyp5vc6y27gyg' */
  @IsString()
  @MaxLength(64)
  escalationId!: string;

  /** One of the options of the escalation. @example 'extend' */
  @IsString()
  @MinLength(1)
  @MaxLength(64)
  decision!: string;

  /**
   * Why, for the receipt; the feedback where the decision rejects an approval. At most 1,000 characters.
   * @example 'Jane is back on Monday.'
   */
  @IsOptional()
  @IsString()
  @MaxLength(1000)
  note?: string;
}

/** What an escalation is about. */
export class EscalationSubject extends ReceiptEntity {}

/** An option of an escalation, in words. */
export class EscalationChoiceView {
  /** What to send as the decision. @example 'extend' */
  option!: string;
  /**
   * What it does.
   * @example 'Gives the approval as much time again as it had, at most 24 hours; this is possible three times.'
   */
  effect!: string;
  /** The least role that may choose it. @example 'operator' */
  role!: Role;
}

/** Something that a person has to decide because nothing else here can. */
export class EscalationView {
  /** The id of the escalation. @example 'esc_01khqws0y0g13zyp5vc6y27gyg' */
  escalationId!: string;
  /**
   * approval_expiring, approval_expired, packet_failed, budget_exceeded, connector_red, compensation_failed,
   * kill_unconfirmed, action_unconfirmed or schedule_paused
   * @example 'approval_expiring'
   */
  kind!: EscalationKind;
  /** open; resolved, by a decision or because its cause is gone; or dismissed @example 'open' */
  status!: EscalationStatus;
  /** Its subject. */
  entity!: EscalationSubject;
  /** The directive that it belongs to; null: none. */
  directiveId!: string | null;
  /** The team that it belongs to; null: none. */
  teamId!: string | null;
  /**
   * Why a person has to decide.
   * @example 'The approval of "Email jane@acme.example" expires soon, and nobody has decided on it.'
   */
  reason!: string;
  /** What may be decided. @example ['extend', 'reject', 'dismiss'] */
  options!: string[];
  /** What each of the options does, in the same order; one that can no longer be chosen is left out. */
  choices!: EscalationChoiceView[];
  /** How many it stands for: where very much fails at once, one escalation stands for many. @example 1 */
  count!: number;
  /**
   * When it ends by itself or becomes worse, Unix milliseconds; null: it stays as it is.
   * @example 1771488000000
   */
  dueAt!: number | null;
  /** When it was opened, Unix milliseconds. @example 1771402200000 */
  createdAt!: number;
  /** When it was closed, Unix milliseconds; null: it is open. */
  decidedAt!: number | null;
  /** Who decided; the system where its cause went away; null: it is open. */
  @ApiProperty({ example: null })
  decidedBy!: ActorView | null;
  /** The option that was chosen; null: none. */
  decision!: string | null;
  /** What was said with the decision; null: nothing. */
  note!: string | null;
  /** What came of it; null: it is open. */
  outcome!: string | null;
}

export class EscalationPage extends PageFacts {
  /** The escalations of this page: open ones the most urgent first, closed ones newest first. */
  items!: EscalationView[];
}
