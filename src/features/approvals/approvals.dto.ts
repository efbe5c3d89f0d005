import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateBy,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { FromDigits } from '../../platform/kernel/from-digits.js';
import { PageFacts, PageQuery } from '../../platform/kernel/pages.dto.js';
import { CAPO_ROLES, type CapoRole } from '../terms/terms.js';

const STATUSES = ['pending', 'approved', 'rejected', 'changes_requested', 'expired', 'cancelled'] as const;
const APPROVAL_ID = /^apr_[0-9a-z]{26}$/;

export class ApprovalsQuery extends PageQuery {
  /** Pending ones unless said otherwise. */
  @IsIn(STATUSES)
  status: (typeof STATUSES)[number] = 'pending';

  @IsOptional()
  @IsIn(CAPO_ROLES)
  capo?: CapoRole;

  @IsOptional()
  @Matches(/^team_[0-9a-z]{26}$/, { message: 'teamId must be the id of a team' })
  teamId?: string;

  @IsOptional()
  @Transform(({ value }) => (value === 'true' ? true : value === 'false' ? false : value))
  @IsBoolean()
  urgent?: boolean;
}

export class WaitQuery {
  /** Seconds to wait until the approval is ready or decided. */
  @IsOptional()
  @FromDigits()
  @IsInt()
  @Min(0)
  @Max(30)
  wait: number = 0;
}

export class RejectBody {
  /** Why; with `revise` it is what the next draft goes by. */
  @IsString()
  @Matches(/\S/, { message: 'feedback must not be empty' })
  @MaxLength(10_000)
  feedback!: string;

  /** Sends it back for another draft instead of ending it. */
  @IsOptional()
  @IsBoolean()
  revise?: boolean;
}

/** One decision on one approval. */
export class DecisionBody {
  @Matches(APPROVAL_ID, { message: 'approvalId must be the id of an approval' })
  approvalId!: string;

  @IsIn(['approve', 'reject'])
  decision!: 'approve' | 'reject';

  /** Required to reject. */
  @ValidateIf((body: DecisionBody) => body.decision === 'reject' || body.feedback !== undefined)
  @IsString()
  @Matches(/\S/, { message: 'feedback must not be empty' })
  @MaxLength(10_000)
  feedback?: string;

  @IsOptional()
  @IsBoolean()
  revise?: boolean;
}

/** A single decision beside a list would be passed over without a word. */
const StandsAlone = () =>
  ValidateBy({
    name: 'standsAlone',
    validator: {
      validate: (_decisions, args) => {
        const { approvalId, decision, feedback, revise } = args!.object as DecisionsBody;
        return [approvalId, decision, feedback, revise].every((one) => one === undefined);
      },
      defaultMessage: () => 'decisions must stand alone: put the single decision among them',
    },
  });

/** Either one decision, or `decisions` with up to 100. */
export class DecisionsBody {
  @ValidateIf((body: DecisionsBody) => body.decisions === undefined)
  @Matches(APPROVAL_ID, { message: 'approvalId must be the id of an approval' })
  approvalId?: string;

  @ValidateIf((body: DecisionsBody) => body.decisions === undefined)
  @IsIn(['approve', 'reject'])
  decision?: 'approve' | 'reject';

  /** Required to reject. */
  @ValidateIf((body: DecisionsBody) => body.decision === 'reject' || body.feedback !== undefined)
  @IsString()
  @Matches(/\S/, { message: 'feedback must not be empty' })
  @MaxLength(10_000)
  feedback?: string;

  @IsOptional()
  @IsBoolean()
  revise?: boolean;

  @IsOptional()
  @StandsAlone()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @ArrayUnique((decision: DecisionBody) => decision.approvalId, {
    message: 'decisions must name each approval once',
  })
  @ValidateNested({ each: true })
  @Type(() => DecisionBody)
  decisions?: DecisionBody[];
}

export class ApprovalOutput {
  summary!: string;
  format!: 'markdown';
  body!: string;
  contentHash!: string;
}

export class ApprovalAction {
  type!: string;
  target!: string | null;
  params!: Record<string, unknown>;
}

export class ApprovalWorkPacket {
  workPacketId!: string;
  title!: string;
  action!: ApprovalAction;
  reversibility!: string;
  rationale!: string;
  contentHash!: string;
}

export class ApprovalReason {
  outcome!: string;
  explanation!: string[];
}

/** Something that waits for a person, or waited, as lists show it. */
export class ApprovalSummary {
  approvalId!: string;
  directiveId!: string;
  teamId!: string | null;
  capo!: string | null;
  kind!: 'output' | 'standing_order' | 'budget_override';
  status!: (typeof STATUSES)[number];
  /** True once the draft is attached. */
  ready!: boolean;
  title!: string;
  summary!: string;
  priority!: string;
  urgent!: boolean;
  risk!: string;
  reversibility!: string;
  /** What an approval is bound to; send it as `If-Match` to approve exactly what was read. */
  contentHash!: string | null;
  requestedBy!: ActorView;
  /** Unix milliseconds. */
  requestedAt!: number;
  /** Unix milliseconds. */
  expiresAt!: number;
  onExpiry!: 'reject' | 'escalate';
  /** Unix milliseconds. */
  decidedAt!: number | null;
  decidedBy!: ActorView | null;
  decidedVia!: string | null;
  receiptId!: string | null;
}

/** Something that waits for a person, or waited, with all that is approved. */
export class ApprovalView extends ApprovalSummary {
  output!: ApprovalOutput | null;
  packets!: ApprovalWorkPacket[];
  /** Why a person is asked. */
  policy!: ApprovalReason | null;
  feedback!: string | null;
}

export class ApprovalPage extends PageFacts {
  items!: ApprovalSummary[];
}

export class ApprovalDecided {
  approvalId!: string;
  status!: string;
  directiveId!: string;
  directiveStatus!: string;
  /** Unix milliseconds. */
  decidedAt!: number;
  receiptId!: string;
}

export class DecisionResult {
  approvalId!: string;
  status?: string;
  receiptId?: string;
  error?: { code: string; message: string; status: number };
}

export class DecisionResults {
  results!: DecisionResult[];
}
