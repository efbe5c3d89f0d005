import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsObject, IsOptional, IsString, Matches, registerDecorator } from 'class-validator';
import { Temporal } from 'temporal-polyfill';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { FreeForm, MaxJsonBytes } from '../../platform/http/free-form.js';
import { PageFacts, TeamPageQuery } from '../../platform/kernel/pages.dto.js';
import { IsNotBlank } from '../../platform/kernel/plain-text.js';
import { MaxLength } from '../../platform/kernel/text-length.js';
import { ApprovalOutput } from '../approvals/index.js';
import { Drafting } from '../capos/index.js';
import {
  CAPO_ROLES,
  type CapoRole,
  DIRECTIVE_STATUSES,
  type DirectiveStatus,
  PRIORITIES,
  type Priority,
} from '../terms/index.js';
import { PacketCost } from './packets/work-packets.dto.js';

export class RoutingCandidate {
  /** The capo that was considered. @example 'capo_ops' */
  capo!: string;
  /** How well it fits, 0 to 1. @example 0.63 */
  score!: number;
  /** The words and abilities that speak for it. @example ['delivery', 'arrives', 'can send mail'] */
  why!: string[];
}

class DirectiveRouting {
  /** The capos that were considered, best first. */
  candidates!: RoutingCandidate[];
  /**
   * Why this capo, in one or two sentences.
   * @example 'Ops fits best: it speaks of delivery, and can send mail.'
   */
  reason!: string;
}

class DirectiveOutput extends ApprovalOutput {}

class DirectiveEngine {
  /** The engine that made the draft; `builtin` is the one that works without a model. @example 'builtin' */
  name!: string;
  /** The model that it asked; null: none. */
  model!: string | null;
}

class DirectiveCost extends PacketCost {
  /** Tokens that were sent to the model. @example 0 */
  tokensIn!: number;
  /** Tokens that the model answered. @example 0 */
  tokensOut!: number;
}

class DirectiveError {
  /** The code of the error. @example 'POLICY_DENIED' */
  code!: string;
  /** What went wrong, for a person. @example 'The standing order No mail denies this work packet.' */
  message!: string;
  /**
   * What can be done about it, where it failed before anything was sent.
   * @example 'If it is still wanted, have it drafted again.'
   */
  nextStep?: string;
}

/** The schedule that a directive is a run of. */
class DirectiveSchedule {
  /** The id of the schedule. @example 'sch_01khqw6q006hs686p8sr7arg9t' */
  scheduleId!: string;
  /** The due time of this run, Unix milliseconds; null: a person ran the schedule. @example 1771833600000 */
  dueAt!: number | null;
}

export class DirectiveChange {
  /** The status before; null for the first one. */
  from!: DirectiveStatus | null;
  /** The status from then on. @example 'pending_approval' */
  to!: DirectiveStatus;
  /** When it changed, Unix milliseconds. @example 1771401600000 */
  at!: number;
  /** The receipt of the change. @example 'rcp_01khqw6q000z6psfac2nmjc6gg' */
  receiptId!: string;
}

/** What every view of a directive shows. */
class DirectiveFacts {
  /** The id of the directive. @example 'dir_01khqw6q006hs686p8sr7arg9t' */
  directiveId!: string;
  /** The capo that does it; null until one was chosen. @example 'capo_ops' */
  capo!: string | null;
  /** Who chose the capo. @example 'consigliere' */
  routedBy!: 'operator' | 'consigliere';
  /** high, medium or low @example 'medium' */
  priority!: Priority;
  /** Whether its output queues for review before anything is sent. @example true */
  requiresApproval!: boolean;
  /** When it expires if not executed, ISO 8601; null: never. @example '2026-02-20T16:00:00.000Z' */
  deadline!: string | null;
  /** The team that it belongs to; null: none. */
  teamId!: string | null;
  /** Where it stands. @example 'pending_approval' */
  status!: DirectiveStatus;
  /** The approval at which it waits, or waited; null: none. @example 'apr_01khqw6q00tp9w1md2nw5hc13a' */
  approvalId!: string | null;
  /** What it came to, in its order. @example ['pkt_01khqw6sb0xg7v9zhwnqcrxds8'] */
  workPacketIds!: string[];
  /** What made the draft; null until it is made. */
  engine!: DirectiveEngine | null;
  /** What the drafts have cost. */
  cost!: DirectiveCost;
  /** Why it failed; null when it did not. */
  @ApiProperty({ example: null })
  error!: DirectiveError | null;
  /** Who handed it in. */
  createdBy!: ActorView;
  /** The schedule that it is a run of; null: none. */
  schedule!: DirectiveSchedule | null;
  /** When it was handed in, Unix milliseconds. @example 1771401600000 */
  createdAt!: number;
  /** When a capo began to work on it, Unix milliseconds; null: not yet. @example 1771401601200 */
  startedAt!: number | null;
  /** When it was carried out, Unix milliseconds; null: not yet. */
  executedAt!: number | null;
}

/** A directive as lists show it. */
export class DirectiveSummary extends DirectiveFacts {
  /**
   * The first line of the instruction, at most 120 characters of it.
   * @example 'Email jane@acme.example and tell her that the delivery arrives on Friday.'
   */
  title!: string;
}

/** A directive, from hand-in to receipt. */
export class DirectiveView extends DirectiveFacts {
  /** The instruction. @example 'Email jane@acme.example and tell her that the delivery arrives on Friday.' */
  directive!: string;
  /** How the consigliere chose; null when the operator named the capo, and until it has chosen. */
  routing!: DirectiveRouting | null;
  /** The extra context that it was handed in with. @example { "order": 17 } */
  context!: Record<string, unknown>;
  /** The draft; null until it is made. */
  output!: DirectiveOutput | null;
  /** While a draft is being made: how far that has come; null at any other time. */
  @ApiProperty({ example: null })
  drafting!: Drafting | null;
  /** When the first of its work packets that standing orders delay is decided again, Unix milliseconds; null: none waits. */
  throttledUntil!: number | null;
  /** Every change of its status, oldest first. */
  history!: DirectiveChange[];
}

export class DirectivePage extends PageFacts {
  /** The directives of this page, newest first. */
  items!: DirectiveSummary[];
}

const MAX_AHEAD_MS = 10 * 366 * 86_400_000;

/** The instant that an ISO 8601 text with an offset names, in Unix milliseconds; undefined if it names none. */
export function instantOf(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    // Temporal refuses what Date would bend: 29 February of other years, 24:00, a missing offset.
    return Temporal.Instant.from(text).epochMilliseconds;
  } catch {
    return undefined;
  }
}

/** An instant in the future, at most ten years ahead. */
function IsInstantAhead(): PropertyDecorator {
  return (target, property) =>
    registerDecorator({
      name: 'isInstantAhead',
      target: target.constructor,
      propertyName: String(property),
      options: { message: `${String(property)} must be an ISO 8601 time with an offset, in the future` },
      validator: {
        validate: (value: unknown) => {
          const at = instantOf(value);
          return at !== undefined && at > Date.now() && at < Date.now() + MAX_AHEAD_MS;
        },
      },
    });
}

/** The parameter of the paths, as it is documented. */
export const DIRECTIVE_PARAM = {
  name: 'directiveId',
  description: 'The id of the directive.',
  example: 'dir_01khqw6q006hs686p8sr7arg9t',
};

const MAX_TEXT = 20_000;
/** CONTRACT section 1. */
const MAX_CONTEXT_BYTES = 64 * 1024;

class DirectiveTerms {
  /** high, medium or low; medium unless said @example 'medium' */
  @IsOptional()
  @IsIn(PRIORITIES)
  priority?: Priority;

  /** Extra context passed to the capo, at most 64 KB. @example { "order": 17 } */
  @IsOptional()
  @FreeForm()
  @IsObject()
  @MaxJsonBytes(MAX_CONTEXT_BYTES)
  context?: Record<string, unknown>;

  /**
   * When the directive expires if not executed, ISO 8601 with an offset.
   * @example '2026-02-20T17:00:00+01:00'
   */
  @IsOptional()
  @IsInstantAhead()
  deadline?: string;

  /**
   * The team it belongs to; left out: the caller's only team, for owner and admin of the workspace none.
   * @example 'team_01kerq74k0wtbyzq0h359nrdxj'
   */
  @IsOptional()
  @Matches(/^team_[0-9a-z]{26}$/, { message: 'teamId must be the id of a team' })
  teamId?: string;
}

/** Body of `POST /directives` (SPECIFICATION, Directive). */
export class DirectiveBody extends DirectiveTerms {
  /**
   * Plain-language instruction for the capo, at most 20,000 characters.
   * @example 'Email jane@acme.example and tell her that the delivery arrives on Friday.'
   */
  @IsString()
  @Matches(/\S/, { message: 'directive must not be empty' })
  @IsNotBlank()
  @MaxLength(MAX_TEXT)
  directive!: string;

  /** The capo that is to do it. @example 'capo_ops' */
  @IsIn(CAPO_ROLES)
  capo!: CapoRole;

  /** Whether the output queues for review before anything is sent; true unless said. @example true */
  @IsOptional()
  @IsBoolean()
  requiresApproval?: boolean;
}

/** Body of `POST /directive`; the consigliere routes it unless a capo is named. */
export class QueuedDirectiveBody extends DirectiveTerms {
  /**
   * Plain-language instruction, at most 20,000 characters.
   * @example 'Email jane@acme.example and tell her that the delivery arrives on Friday.'
   */
  @IsString()
  @Matches(/\S/, { message: 'text must not be empty' })
  @IsNotBlank()
  @MaxLength(MAX_TEXT)
  text!: string;

  /** The capo that is to do it; the consigliere chooses unless said. @example 'capo_ops' */
  @IsOptional()
  @IsIn(CAPO_ROLES)
  capo?: CapoRole;
}

/** Answer of `POST /directive`. */
export class QueuedDirective {
  /** The id of the new directive. @example 'dir_01khqw6q006hs686p8sr7arg9t' */
  directiveId!: string;
  /** The approval at which its output will wait. @example 'apr_01khqw6q00tp9w1md2nw5hc13a' */
  approvalId!: string;
  /** Always `pending_approval`. @example 'pending_approval' */
  status!: 'pending_approval';
}

export class DirectivesQuery extends TeamPageQuery {
  /** Only directives of this status. @example 'executed' */
  @IsOptional()
  @IsIn(DIRECTIVE_STATUSES)
  status?: DirectiveStatus;

  /** Only directives of this capo. @example 'capo_ops' */
  @IsOptional()
  @IsIn(CAPO_ROLES)
  capo?: CapoRole;

  /** Only directives that this schedule has handed in. @example 'sch_01khqw6q006hs686p8sr7arg9t' */
  @IsOptional()
  @Matches(/^sch_[0-9a-z]{26}$/, { message: 'scheduleId must be the id of a schedule' })
  scheduleId?: string;
}
