import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsDefined,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  ValidateIf,
  ValidateNested,
  ArrayMinSize,
  ArrayUnique,
  IsBoolean,
  IsIn,
  ValidateBy,
} from 'class-validator';
import {
  type ApiBodyOptions,
  ApiPropertyOptional,
  type ApiPropertyOptions,
  getSchemaPath,
  IntersectionType,
  PartialType,
  PickType,
} from '@nestjs/swagger';
import type { ErrorObject } from '../../platform/http/render-error.js';
import { IsNotBlank } from '../../platform/kernel/plain-text.js';
import { MaxLength } from '../../platform/kernel/text-length.js';
import { ONE_LINE } from '../../platform/kernel/text.js';
import { VoteCount } from './approvals.dto.js';

const PACKET_ID = /^pkt_[0-9a-z]{26}$/;

/** New parameters for a work packet. */
export class PacketEditBody {
  /** The work packet. @example 'pkt_01khqw6sb0xg7v9zhwnqcrxds8' */
  @Matches(PACKET_ID, { message: 'workPacketId must be the id of a work packet' })
  workPacketId!: string;

  /**
   * All of its parameters: what is left out is removed. The action type says which there are. Beside `confirm` they may be
   * left out altogether: then they stay as they are.
   * @example { "to": ["jane@acme.example"], "subject": "Your delivery", "body": "Hello Jane, the delivery arrives on Thursday." }
   */
  @ValidateIf(({ params, confirm }: PacketEditBody) => params !== undefined || !confirm?.length)
  @IsObject()
  params?: Record<string, unknown>;

  /**
   * Which of the parameters that `needsInput` asks for are right as they stand: what looks like a placeholder
   * is sometimes the text that is meant.
   * @example ['params.body']
   */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(20)
  @IsString({ each: true })
  @MaxLength(100, { each: true })
  confirm?: string[];
}

/** What an added work packet does. */
class AddedActionBody {
  /** The action type; one within the scope of the capo's engine. @example 'document.file' */
  @IsString()
  @MaxLength(100)
  type!: string;

  /**
   * Its parameters; the action type defines the fields.
   * @example { "title": "Delivery of order 17", "body": "Jane was told that it arrives on Thursday." }
   */
  @IsObject()
  params!: Record<string, unknown>;

  /** What it does, in one line; made from the parameters unless given. @example 'Note on order 17' */
  @IsOptional()
  @IsString()
  @MaxLength(200)
  @Matches(/\S/, { message: 'title must not be empty' })
  @IsNotBlank()
  @Matches(ONE_LINE, { message: 'title must be one line without control characters' })
  title?: string;
}

/** A work packet that the capo did not think of. */
class AddedPacketBody {
  /** What it does. */
  @IsDefined()
  @IsObject()
  @ValidateNested()
  @Type(() => AddedActionBody)
  action!: AddedActionBody;
}

class EditedOutputBody {
  /**
   * The new text of the draft, where the draft is a single document; a first line `# Title` is its title.
   * @example '# Memo on the delivery delays\n\nTwo of nine deliveries were late.'
   */
  @IsString()
  @MaxLength(101_000)
  body!: string;
}

/** What is to be sent instead; at least one of these. */
export class EditBody {
  /** New parameters for work packets of the draft. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(100)
  @IsObject({ each: true, message: '$property must contain objects' })
  @ValidateNested({ each: true })
  @Type(() => PacketEditBody)
  packets?: PacketEditBody[];

  /** Work packets to add, behind the others. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(100)
  @IsObject({ each: true, message: '$property must contain objects' })
  @ValidateNested({ each: true })
  @Type(() => AddedPacketBody)
  add?: AddedPacketBody[];

  /** Work packets to leave out. @example ['pkt_01khqw6sb0xg7v9zhwnqcrxds8'] */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(100)
  @Matches(PACKET_ID, { each: true, message: 'each value in remove must be the id of a work packet' })
  remove?: string[];

  /**
   * All parameters of what an agent from outside asks for: what is left out is removed. Nothing else of it can be changed.
   * @example { "order": "A-17", "amount": 20, "currency": "EUR" }
   */
  @IsOptional()
  @IsObject()
  params?: Record<string, unknown>;

  /** The new text, where the draft is a single document. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => EditedOutputBody)
  output?: EditedOutputBody;
}

const APPROVAL_ID = /^apr_[0-9a-z]{26}$/;

export class RejectBody {
  /**
   * Why, at most 10,000 characters; with `revise` the next draft follows it.
   * @example 'Write Thursday instead of Friday.'
   */
  @IsString()
  @Matches(/\S/, { message: 'feedback must not be empty' })
  @IsNotBlank()
  @MaxLength(10_000)
  feedback!: string;

  /** Sends it back for another draft instead of ending it; at most 5 times. @example true */
  @IsOptional()
  @IsBoolean()
  revise?: boolean;
}

/** What is said with a decision. */
class SaidWithDecision {
  /** Why, at most 10,000 characters. Required to reject. @example 'Write Thursday instead of Friday.' */
  @ValidateIf(
    (body: SaidWithDecision & { decision?: string }) =>
      body.decision === 'reject' || body.feedback !== undefined,
  )
  @IsString()
  @Matches(/\S/, { message: 'feedback must not be empty' })
  @IsNotBlank()
  @MaxLength(10_000)
  feedback?: string;

  /** With `reject`: sends it back for another draft instead of ending it. @example false */
  @IsOptional()
  @IsBoolean()
  revise?: boolean;

  /**
   * The content hash of what was read: another one is refused (412), whatever is decided; an approval without one is refused
   * where somebody else has edited the draft (428).
   * @example '4a1c5e2f8b7d9036e1c2a4b6d8f0123456789abcdef0123456789abcdef01234'
   */
  @IsOptional()
  @Matches(/^[0-9a-f]{64}$/, { message: 'contentHash must be the 64 hex digits of the approval' })
  contentHash?: string;
}

/** One decision on one approval. */
export class DecisionBody extends SaidWithDecision {
  /** The approval to decide. @example 'apr_01khqw6q00tp9w1md2nw5hc13a' */
  @Matches(APPROVAL_ID, { message: 'approvalId must be the id of an approval' })
  approvalId!: string;

  /** What is decided. @example 'approve' */
  @IsIn(['approve', 'reject'])
  decision!: 'approve' | 'reject';
}

/** A single decision beside a list would be passed over without a word. */
const StandsAlone = () =>
  ValidateBy({
    name: 'standsAlone',
    validator: {
      validate: (_decisions, args) => {
        const { approvalId, decision, feedback, revise, contentHash } = args!.object as DecisionsBody;
        return [approvalId, decision, feedback, revise, contentHash].every((one) => one === undefined);
      },
      defaultMessage: () => 'decisions cannot be combined with a single decision: add it to the list',
    },
  });

/** Either one decision, or `decisions` with up to 100. */
export class DecisionsBody extends SaidWithDecision {
  /** The one approval to decide; without `decisions`. @example 'apr_01khqw6q00tp9w1md2nw5hc13a' */
  @ValidateIf((body: DecisionsBody) => body.decisions === undefined)
  @Matches(APPROVAL_ID, { message: 'approvalId must be the id of an approval' })
  approvalId?: string;

  /** What is decided about the one approval. @example 'approve' */
  @ValidateIf((body: DecisionsBody) => body.decisions === undefined)
  @IsIn(['approve', 'reject'])
  decision?: 'approve' | 'reject';

  /** Up to 100 decisions, each about another approval; stands alone. */
  @IsOptional()
  @StandsAlone()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @ArrayUnique((decision: DecisionBody | null) => decision?.approvalId, {
    message: 'decisions must name each approval once',
  })
  @IsObject({ each: true, message: '$property must contain objects' })
  @ValidateNested({ each: true })
  @Type(() => DecisionBody)
  decisions?: DecisionBody[];
}

/** The two forms of `POST /approvals`, as they are documented. */
export const DECISIONS_BODY: ApiBodyOptions = {
  schema: {
    oneOf: [
      { $ref: getSchemaPath(DecisionBody) },
      {
        type: 'object',
        required: ['decisions'],
        properties: {
          decisions: {
            type: 'array',
            description: 'Up to 100 decisions, each about another approval.',
            minItems: 1,
            maxItems: 100,
            items: { $ref: getSchemaPath(DecisionBody) },
          },
        },
      },
    ],
  },
  examples: {
    one: {
      summary: 'One decision',
      value: { approvalId: 'apr_01khqw6q00tp9w1md2nw5hc13a', decision: 'approve' },
    },
    many: {
      summary: 'Several decisions',
      value: {
        decisions: [
          { approvalId: 'apr_01khqw6q00tp9w1md2nw5hc13a', decision: 'approve' },
          {
            approvalId: 'apr_01khqw6sxrdzg79npdmkrfqqh3',
            decision: 'reject',
            feedback: 'Write Thursday instead of Friday.',
            revise: true,
          },
        ],
      },
    },
  },
};

export class ApprovalDecided {
  /** The approval. @example 'apr_01khqw6q00tp9w1md2nw5hc13a' */
  approvalId!: string;
  /**
   * What became of it: approved, rejected or changes_requested; still pending where more people have to approve.
   * @example 'approved'
   */
  status!: string;
  /** How many people have approved it, and how many have to. */
  votes!: VoteCount;
  /**
   * The directive that it is about; null where an agent from outside asks.
   * @example 'dir_01khqw6q006hs686p8sr7arg9t'
   */
  directiveId!: string | null;
  /** The status of the directive now; null where there is none. @example 'sending' */
  directiveStatus!: string | null;
  /**
   * When it was decided, Unix milliseconds; null where more people have to approve.
   * @example 1771401690000
   */
  decidedAt!: number | null;
  /**
   * The receipt of the decision, or of this approval where more people have to approve.
   * @example 'rcp_01khqw9ewg14azqhp5x4vkpz0a'
   */
  receiptId!: string;
  /**
   * The approval that follows; only when changes were requested.
   * @example 'apr_01khqw6sxrdzg79npdmkrfqqh3'
   */
  nextApprovalId?: string;
}

export class DecisionResult extends IntersectionType(
  PickType(ApprovalDecided, ['approvalId']),
  PartialType(PickType(ApprovalDecided, ['status', 'votes', 'receiptId', 'nextApprovalId'])),
) {
  /** The error that the same decision alone would get, with nothing but `approvalId` beside it; left out when the decision did not fail. */
  @ApiPropertyOptional({ $ref: '#/components/schemas/ErrorObject' } as ApiPropertyOptions)
  error?: ErrorObject;
}

export class DecisionResults {
  /** One result for each decision, in the same order. */
  results!: DecisionResult[];
}
