import { IsBoolean, IsIn, IsObject, IsOptional, IsString, Matches } from 'class-validator';
import { FreeForm, MaxJsonBytes } from '../../platform/http/free-form.js';
import { TeamPageQuery } from '../../platform/kernel/pages.dto.js';
import { IsNotBlank } from '../../platform/kernel/plain-text.js';
import { MaxLength } from '../../platform/kernel/text-length.js';
import {
  CAPO_ROLES,
  type CapoRole,
  DIRECTIVE_STATUSES,
  type DirectiveStatus,
  PRIORITIES,
  type Priority,
} from '../terms/index.js';
import { IsInstantAhead } from './is-instant-ahead.js';

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
