import { IsBoolean, IsIn, IsObject, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { FreeForm } from '../../platform/http/free-form.js';
import { MaxJsonBytes } from '../../platform/http/max-json-bytes.js';
import { PageFacts, PageQuery } from '../../platform/kernel/pages.dto.js';
import {
  CAPO_ROLES,
  type CapoRole,
  DIRECTIVE_STATUSES,
  type DirectiveStatus,
  PRIORITIES,
  type Priority,
} from '../terms/terms.js';
import { IsInstantAhead } from './is-instant-ahead.js';

const TEAM_ID = /^team_[0-9a-z]{26}$/;
const MAX_TEXT = 20_000;
/** CONTRACT section 1. */
const MAX_CONTEXT_BYTES = 64 * 1024;

class DirectiveTerms {
  /** high, medium or low */
  @IsOptional()
  @IsIn(PRIORITIES)
  priority?: Priority;

  /** Extra context passed to the capo, at most 64 KB as JSON. */
  @IsOptional()
  @FreeForm()
  @IsObject()
  @MaxJsonBytes(MAX_CONTEXT_BYTES)
  context?: Record<string, unknown>;

  /** ISO 8601 with an offset; when the directive expires if not executed. */
  @IsOptional()
  @IsInstantAhead()
  deadline?: string;

  /** The team it belongs to; the caller's only team unless said. */
  @IsOptional()
  @Matches(TEAM_ID, { message: 'teamId must be the id of a team' })
  teamId?: string;
}

/** Body of `POST /directives` (SPECIFICATION, Directive). */
export class DirectiveBody extends DirectiveTerms {
  /** Plain-language instruction for the capo. */
  @IsString()
  @Matches(/\S/, { message: 'directive must not be empty' })
  @MaxLength(MAX_TEXT)
  directive!: string;

  /** The capo that is to do it. */
  @IsIn(CAPO_ROLES)
  capo!: CapoRole;

  /** Whether the output queues for review; true unless said. */
  @IsOptional()
  @IsBoolean()
  requiresApproval?: boolean;
}

/** Body of `POST /directive`; the consigliere routes it unless a capo is named. */
export class QueuedDirectiveBody extends DirectiveTerms {
  /** Plain-language instruction. */
  @IsString()
  @Matches(/\S/, { message: 'text must not be empty' })
  @MaxLength(MAX_TEXT)
  text!: string;

  @IsOptional()
  @IsIn(CAPO_ROLES)
  capo?: CapoRole;
}

/** Answer of `POST /directive`. */
export class QueuedDirective {
  directiveId!: string;
  approvalId!: string;
  status!: 'pending_approval';
}

export class DirectivesQuery extends PageQuery {
  @IsOptional()
  @IsIn(DIRECTIVE_STATUSES)
  status?: DirectiveStatus;

  @IsOptional()
  @IsIn(CAPO_ROLES)
  capo?: CapoRole;

  @IsOptional()
  @Matches(TEAM_ID, { message: 'teamId must be the id of a team' })
  teamId?: string;
}

export class RoutingCandidate {
  capo!: string;
  /** 0 to 1 */
  score!: number;
  why!: string[];
}

export class DirectiveRouting {
  candidates!: RoutingCandidate[];
  reason!: string;
}

export class DirectiveOutput {
  summary!: string;
  format!: 'markdown';
  body!: string;
  contentHash!: string;
}

export class DirectiveEngine {
  name!: string;
  model!: string | null;
}

export class DirectiveCost {
  amount!: number;
  currency!: string;
  tokensIn!: number;
  tokensOut!: number;
}

export class DirectiveError {
  code!: string;
  message!: string;
}

export class DirectiveChange {
  from!: DirectiveStatus | null;
  to!: DirectiveStatus;
  /** Unix milliseconds. */
  at!: number;
  receiptId!: string;
}

/** What every view of a directive shows. */
class DirectiveFacts {
  directiveId!: string;
  capo!: string | null;
  routedBy!: 'operator' | 'consigliere';
  priority!: Priority;
  requiresApproval!: boolean;
  /** ISO 8601 */
  deadline!: string | null;
  teamId!: string | null;
  status!: DirectiveStatus;
  approvalId!: string | null;
  workPacketIds!: string[];
  engine!: DirectiveEngine | null;
  cost!: DirectiveCost;
  error!: DirectiveError | null;
  createdBy!: ActorView;
  /** Unix milliseconds. */
  createdAt!: number;
  /** Unix milliseconds. */
  startedAt!: number | null;
  /** Unix milliseconds. */
  executedAt!: number | null;
}

/** A directive as lists show it. */
export class DirectiveSummary extends DirectiveFacts {
  /** The first line of the instruction, at most 120 characters of it. */
  title!: string;
}

/** A directive, from hand-in to receipt. */
export class DirectiveView extends DirectiveFacts {
  /** The instruction. */
  directive!: string;
  routing!: DirectiveRouting | null;
  context!: Record<string, unknown>;
  output!: DirectiveOutput | null;
  history!: DirectiveChange[];
}

export class DirectivePage extends PageFacts {
  items!: DirectiveSummary[];
}
