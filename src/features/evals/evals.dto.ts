import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsBoolean, IsIn, IsObject, IsOptional, IsString, Matches } from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { FreeForm, MaxJsonBytes } from '../../platform/http/free-form.js';
import { PageFacts, TeamPageQuery } from '../../platform/kernel/pages.dto.js';
import { IsNotBlank } from '../../platform/kernel/plain-text.js';
import { ONE_LINE } from '../../platform/kernel/text.js';
import { MaxLength } from '../../platform/kernel/text-length.js';
import { EVAL_TARGETS, type EvalOccasion, type EvalTarget } from './eval-run.entity.js';
import { EVAL_KINDS, type EvalKind, type Finding, type FindingSeverity } from './rule.js';

/** The parameter of the paths, as it is documented. */
export const EVAL_PARAM = {
  name: 'evalRunId',
  description: 'The id of the eval run.',
  example: 'evl_01kerr2kg0b6y3v9m5d8q1tzxw',
};

const TEAM_ID = /^team_[0-9a-z]{26}$/;
const MAX_DEFINITION_BYTES = 64 * 1024;

/** Body of `POST /evals/run` (SPECIFICATION, Eval). */
export class RunEvalBody {
  /**
   * The run's name, in one line of at most 120 characters. The target selects the eval.
   * @example 'Before the holidays'
   */
  @MaxLength(120)
  @Matches(/\S/, { message: '$property must be one line of text' })
  @Matches(ONE_LINE, { message: '$property must be one line of text' })
  @IsNotBlank()
  name!: string;

  /**
   * standing_order (its safety), workflow_candidate (the soundness of a work packet) or skill (its definition)
   * @example 'standing_order'
   */
  @IsIn(EVAL_TARGETS)
  targetEntityType!: EvalTarget;

  /**
   * The id of the standing order or the work packet, or the name of the skill.
   * @example 'so_01kerr2kg0xaen9f9sdsg8py4z'
   */
  @IsString()
  @Matches(/^[\w-]{1,64}$/, { message: '$property must be an id, or the name of a skill' })
  targetEntityId!: string;

  /**
   * The definition of a skill that is not installed, at most 64 KB as JSON; only for a skill.
   * @example { "name": "price-quote", "schemaVersion": 1, "capo": "capo_revenue", "inputs": { "type": "object", "properties": {} }, "outputs": { "type": "object", "properties": { "quote": { "type": "string", "description": "The quote." } } } }
   */
  @ApiPropertyOptional({ type: Object })
  @IsOptional()
  @FreeForm()
  @IsObject()
  @MaxJsonBytes(MAX_DEFINITION_BYTES)
  definition?: Record<string, unknown>;

  /**
   * The team whose run it is, for a definition. Left out: the caller's only team. A run about an order or a work packet
   * belongs to its team.
   * @example 'team_01kerq74k0wtbyzq0h359nrdxj'
   */
  @IsOptional()
  @Matches(TEAM_ID, { message: '$property must be the id of a team' })
  teamId?: string;
}

/** Query of `GET /evals`; what is left out does not narrow it. */
export class EvalsQuery extends TeamPageQuery {
  /** Only runs of this kind. @example 'standing_order_safety' */
  @IsOptional()
  @IsIn(EVAL_KINDS)
  kind?: EvalKind;

  /** Only runs about this target. @example 'so_01kerr2kg0xaen9f9sdsg8py4z' */
  @IsOptional()
  @Matches(/^[\w-]{1,64}$/, { message: '$property must be an id, or the name of a skill' })
  targetEntityId?: string;

  /** Only runs that passed, or only those that did not. @example false */
  @IsOptional()
  @Transform(({ value }) => (value === 'true' ? true : value === 'false' ? false : value))
  @IsBoolean()
  passed?: boolean;
}

/** Where a target breaks a rule. */
export class FindingView implements Finding {
  /** The rule, as docs/evals.md lists it. @example 'order.no_expiry_irreversible' */
  ruleId!: string;
  /** critical, warning or info @example 'warning' */
  severity!: FindingSeverity;
  /** Where in the target; empty for the whole of it. @example 'expiresAt' */
  path!: string;
  /** What is wrong there. @example 'It never expires, and allows what cannot be undone.' */
  message!: string;
  /** What was found there, as text; null: nothing. */
  evidence!: string | null;
  /** What to do about it. @example 'Set `expiresAt`; a new version renews it.' */
  suggestion!: string;
}

/** An eval run as lists show it, without its findings. */
export class EvalRunSummary {
  /** The id of the run. @example 'evl_01kerr2kg0b6y3v9m5d8q1tzxw' */
  evalRunId!: string;
  /** The team that it belongs to; null: none. */
  teamId!: string | null;
  /** Its name. @example 'Before the holidays' */
  name!: string;
  /**
   * standing_order_safety, workflow_candidate_soundness or skill_definition_syntax
   * @example 'standing_order_safety'
   */
  kind!: EvalKind;
  /** Its subject. @example 'standing_order' */
  targetEntityType!: EvalTarget;
  /**
   * The id of the standing order or the work packet, or the name of the skill.
   * @example 'so_01kerr2kg0xaen9f9sdsg8py4z'
   */
  targetEntityId!: string;
  /** Which version of the target; null: it has none. @example 1 */
  targetVersion!: number | null;
  /**
   * request (somebody asked for it), activation (an order was to become active) or install (a skill arrived with a pack)
   * @example 'request'
   */
  occasion!: EvalOccasion;
  /** completed, or error when a rule could not be computed; such a run never passes @example 'completed' */
  status!: 'completed' | 'error';
  /**
   * From 0 to 1: 1 less 0.5 for each critical rule that is broken, 0.1 for each warning, 0.01 for each info.
   * @example 0.9
   */
  score!: number;
  /** The score from which on a target passes. @example 0.75 */
  threshold!: number;
  /** Whether the target passed. @example true */
  passed!: boolean;
  /** How long it took, in milliseconds. @example 0.4 */
  durationMs!: number;
  /** Who asked for it. */
  createdBy!: ActorView;
  /** When it ran, Unix milliseconds. @example 1768209600000 */
  createdAt!: number;
  /** The receipt of the run. @example 'rcp_01kerr2kg0dg3wq1zr1gnv7c5n' */
  receiptId!: string;
}

/** An eval run (SPECIFICATION, Eval). */
export class EvalRunView extends EvalRunSummary {
  /** What was found, the gravest first; at most 100. */
  findings!: FindingView[];
  /** How many more findings there were. @example 0 */
  findingsOmitted!: number;
}

export class EvalRunPage extends PageFacts {
  /** The runs of this page, newest first. */
  items!: EvalRunSummary[];
}
