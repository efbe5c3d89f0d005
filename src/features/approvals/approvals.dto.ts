import { type ApiBodyOptions, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsDefined,
  IsIn,
  IsInt,
  IsObject,
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
import { Drafting } from '../capos/drafting.dto.js';
import { CAPO_ROLES, type CapoRole } from '../terms/terms.js';

/** The optional header of an approval, as it is documented. */
export const IF_MATCH = {
  name: 'if-match',
  required: false,
  description:
    'The content hash that was read, in quotes or bare: another one is 412. `*`, or none, asks for nothing.',
  schema: { type: 'string', example: '"9deb65b8788f41ff94a217842017db2f843954fc0eb46110835903908e5a265f"' },
} as const;

/** The required header of an edit, as it is documented. */
export const IF_MATCH_REQUIRED = {
  ...IF_MATCH,
  required: true,
  description: 'The content hash that was read, in quotes or bare: another one is 412, none (or `*`) is 428.',
} as const;

/** The parameter of the paths, as it is documented. */
export const APPROVAL_PARAM = {
  name: 'approvalId',
  description: 'The id of the approval.',
  example: 'apr_01khqw6q00tp9w1md2nw5hc13a',
};

const STATUSES = ['pending', 'approved', 'rejected', 'changes_requested', 'expired', 'cancelled'] as const;
export type ApprovalStatus = (typeof STATUSES)[number];
const APPROVAL_ID = /^apr_[0-9a-z]{26}$/;
const PACKET_ID = /^pkt_[0-9a-z]{26}$/;
// oxlint-disable-next-line no-control-regex -- refusing control characters is the purpose
const ONE_LINE = /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$/;

export class ApprovalsQuery extends PageQuery {
  /**
   * Only approvals of this status; pending ones unless said otherwise.
   * @example 'pending'
   */
  @ApiPropertyOptional()
  @IsIn(STATUSES)
  status: ApprovalStatus = 'pending';

  /**
   * Only approvals of this capo.
   * @example 'capo_ops'
   */
  @IsOptional()
  @IsIn(CAPO_ROLES)
  capo?: CapoRole;

  /**
   * Only approvals of this team.
   * @example 'team_01kerq74k0wtbyzq0h359nrdxj'
   */
  @IsOptional()
  @Matches(/^team_[0-9a-z]{26}$/, { message: 'teamId must be the id of a team' })
  teamId?: string;

  /**
   * Only urgent ones, or only the others.
   * @example true
   */
  @IsOptional()
  @Transform(({ value }) => (value === 'true' ? true : value === 'false' ? false : value))
  @IsBoolean()
  urgent?: boolean;
}

export class WaitQuery {
  /**
   * How many seconds to wait until the approval is ready or decided.
   * @example 10
   */
  @ApiPropertyOptional()
  @IsOptional()
  @FromDigits()
  @IsInt()
  @Min(0)
  @Max(30)
  wait: number = 0;
}

export class RejectBody {
  /**
   * Why, at most 10,000 characters; with `revise` the next draft follows it.
   * @example 'Write Thursday instead of Friday.'
   */
  @IsString()
  @Matches(/\S/, { message: 'feedback must not be empty' })
  @MaxLength(10_000)
  feedback!: string;

  /**
   * Sends it back for another draft instead of ending it; at most 5 times.
   * @example true
   */
  @IsOptional()
  @IsBoolean()
  revise?: boolean;
}

/** New parameters for a work packet. */
export class PacketEditBody {
  /**
   * The work packet.
   * @example 'pkt_01khqw6sb0xg7v9zhwnqcrxds8'
   */
  @Matches(PACKET_ID, { message: 'workPacketId must be the id of a work packet' })
  workPacketId!: string;

  /**
   * All of its parameters: what is left out is removed. The action type says which there are.
   * @example { "to": ["jane@acme.example"], "subject": "Your delivery", "body": "Hello Jane, the delivery arrives on Thursday." }
   */
  @IsObject()
  params!: Record<string, unknown>;

  /**
   * Which of the parameters that `needsInput` asks for are right as they stand in `params`: what looks like a placeholder
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
export class AddedActionBody {
  /**
   * The action type; one within the scope of the capo's engine.
   * @example 'document.file'
   */
  @IsString()
  @MaxLength(100)
  type!: string;

  /**
   * What it is carried out with; the action type says which fields there are.
   * @example { "title": "Delivery of order 17", "body": "Jane was told that it arrives on Thursday." }
   */
  @IsObject()
  params!: Record<string, unknown>;

  /**
   * What it does, in one line; made from the parameters unless given.
   * @example 'Note on order 17'
   */
  @IsOptional()
  @IsString()
  @MaxLength(200)
  @Matches(/\S/, { message: 'title must not be empty' })
  @Matches(ONE_LINE, { message: 'title must be one line without control characters' })
  title?: string;
}

/** A work packet that the capo did not think of. */
export class AddedPacketBody {
  /** What it does. */
  @IsDefined()
  @IsObject()
  @ValidateNested()
  @Type(() => AddedActionBody)
  action!: AddedActionBody;
}

export class EditedOutputBody {
  /**
   * The new text of the draft, where the draft is a single document; a first line `# Title` is its title.
   * @example '# Memo on the delivery delays\n\nTwo of nine deliveries were late.'
   */
  @IsString()
  @MaxLength(101_000)
  body!: string;
}

/** What is to be sent instead; at least one of the four. */
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

  /**
   * Work packets to leave out.
   * @example ['pkt_01khqw6sb0xg7v9zhwnqcrxds8']
   */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(100)
  @Matches(PACKET_ID, { each: true, message: 'each value in remove must be the id of a work packet' })
  remove?: string[];

  /** The new text, where the draft is a single document. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => EditedOutputBody)
  output?: EditedOutputBody;
}

/** One decision on one approval. */
export class DecisionBody {
  /**
   * The approval to decide.
   * @example 'apr_01khqw6q00tp9w1md2nw5hc13a'
   */
  @Matches(APPROVAL_ID, { message: 'approvalId must be the id of an approval' })
  approvalId!: string;

  /**
   * What is decided.
   * @example 'approve'
   */
  @IsIn(['approve', 'reject'])
  decision!: 'approve' | 'reject';

  /**
   * Why, at most 10,000 characters. Required to reject.
   * @example 'Write Thursday instead of Friday.'
   */
  @ValidateIf((body: DecisionBody) => body.decision === 'reject' || body.feedback !== undefined)
  @IsString()
  @Matches(/\S/, { message: 'feedback must not be empty' })
  @MaxLength(10_000)
  feedback?: string;

  /**
   * With `reject`: sends it back for another draft instead of ending it.
   * @example false
   */
  @IsOptional()
  @IsBoolean()
  revise?: boolean;

  /**
   * The content hash of what was read; when the draft has been edited since, the decision is refused (412).
   * @example '4a1c5e2f8b7d9036e1c2a4b6d8f0123456789abcdef0123456789abcdef01234'
   */
  @IsOptional()
  @Matches(/^[0-9a-f]{64}$/, { message: 'contentHash must be the 64 hex digits of the approval' })
  contentHash?: string;
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
export class DecisionsBody {
  /**
   * The one approval to decide; without `decisions`.
   * @example 'apr_01khqw6q00tp9w1md2nw5hc13a'
   */
  @ValidateIf((body: DecisionsBody) => body.decisions === undefined)
  @Matches(APPROVAL_ID, { message: 'approvalId must be the id of an approval' })
  approvalId?: string;

  /**
   * What is decided about the one approval.
   * @example 'approve'
   */
  @ValidateIf((body: DecisionsBody) => body.decisions === undefined)
  @IsIn(['approve', 'reject'])
  decision?: 'approve' | 'reject';

  /**
   * Why, at most 10,000 characters. Required to reject.
   * @example 'Write Thursday instead of Friday.'
   */
  @ValidateIf((body: DecisionsBody) => body.decision === 'reject' || body.feedback !== undefined)
  @IsString()
  @Matches(/\S/, { message: 'feedback must not be empty' })
  @MaxLength(10_000)
  feedback?: string;

  /**
   * With `reject`: sends it back for another draft instead of ending it.
   * @example false
   */
  @IsOptional()
  @IsBoolean()
  revise?: boolean;

  /**
   * The content hash of what was read; when the draft has been edited since, the decision is refused (412).
   * @example '4a1c5e2f8b7d9036e1c2a4b6d8f0123456789abcdef0123456789abcdef01234'
   */
  @IsOptional()
  @Matches(/^[0-9a-f]{64}$/, { message: 'contentHash must be the 64 hex digits of the approval' })
  contentHash?: string;

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

export class RemarksEngine {
  /**
   * `builtin`, or the provider of the model.
   * @example 'builtin'
   */
  name!: string;
  /**
   * The model in the words of its provider; null for the built-in runner.
   * @example 'claude-sonnet-4-5'
   */
  model!: string | null;
}

export class OutputRemarks {
  /** Who said it. */
  engine!: RemarksEngine;
  /**
   * What the runner did, and what it could not do.
   * @example 'The address stands in the directive; the delivery date is from its context.'
   */
  text!: string;
}

export class ApprovalOutput {
  /**
   * One sentence on what was made.
   * @example 'A mail to jane@acme.example is ready.'
   */
  summary!: string;
  /**
   * The format of `body`.
   * @example 'markdown'
   */
  format!: 'markdown';
  /**
   * The draft, Markdown.
   * @example 'Hello Jane, the delivery arrives on Friday, 20 February.'
   */
  body!: string;
  /**
   * SHA-256 of `body`, in hex.
   * @example 'e0ee8bb50685e05fa0f47ed04203ae953fdfd055f5bd2892ea186504254f8c3a'
   */
  contentHash!: string;
  /** What the runner says about its draft in its own words; never sent, and null when it had nothing to add. */
  remarks!: OutputRemarks | null;
}

export class ApprovalAction {
  /**
   * The action type, from the trusted registry.
   * @example 'email.send'
   */
  type!: string;
  /**
   * Whom or what it acts upon; null when the parameters say it all.
   * @example 'jane@acme.example'
   */
  target!: string | null;
  /**
   * What it is carried out with; the action type says which fields there are.
   * @example { "to": ["jane@acme.example"], "subject": "Your delivery", "body": "Hello Jane, the delivery arrives on Friday." }
   */
  params!: Record<string, unknown>;
}

export class ApprovalNeededInput {
  /**
   * Where in the action.
   * @example 'params.body'
   */
  path!: string;
  /**
   * What a person has to supply, in a sentence.
   * @example 'Word the message: the directive only describes it.'
   */
  message!: string;
}

export class ApprovalPacketEdit {
  /**
   * What was changed or confirmed.
   * @example 'params.body'
   */
  path!: string;
  /** By whom. */
  by!: ActorView;
  /**
   * When, Unix milliseconds.
   * @example 1771401660000
   */
  at!: number;
}

export class ApprovalWorkPacket {
  /**
   * The id of the work packet.
   * @example 'pkt_01khqw6sb0xg7v9zhwnqcrxds8'
   */
  workPacketId!: string;
  /**
   * What it does, in one line.
   * @example 'Mail to jane@acme.example: Your delivery'
   */
  title!: string;
  /** What is carried out once it is approved. */
  action!: ApprovalAction;
  /**
   * read_only, reversible, externally_reversible or irreversible
   * @example 'irreversible'
   */
  reversibility!: string;
  /**
   * Why the capo wants it.
   * @example 'The instruction asks for a mail to jane@acme.example.'
   */
  rationale!: string;
  /**
   * SHA-256 of the action with its complete parameters, in hex.
   * @example '7426afc489d0eef99a0b438def226ad139f752350c25cf2c04900281afbb79e0'
   */
  contentHash!: string;
  /** What a person has to supply before it may be approved; empty when it is complete. */
  needsInput!: ApprovalNeededInput[];
  /**
   * Who wrote it: the built-in runner of the capo, a model in its name, or a person who added it.
   * @example 'capo'
   */
  writtenBy!: 'capo' | 'model' | 'person';
  /** What people have changed since, the last change of each part. */
  edits!: ApprovalPacketEdit[];
}

export class RevisionChange {
  /**
   * The work packet.
   * @example 'pkt_01khqw6sb0xg7v9zhwnqcrxds8'
   */
  workPacketId!: string;
  /**
   * What was done to it.
   * @example 'edited'
   */
  change!: 'edited' | 'added' | 'removed';
  /**
   * What of it changed or was confirmed; empty when it was added or removed whole.
   * @example ['params.body']
   */
  paths!: string[];
  /**
   * What stood there before, by path.
   * @example { "params.body": "Hello Jane, the delivery arrives on Friday." }
   */
  before!: Record<string, unknown>;
}

export class ApprovalRevision {
  /**
   * The draft is 1.
   * @example 2
   */
  n!: number;
  /**
   * Who wrote it: the built-in runner of a capo, a model in its name, or a person.
   * @example 'person'
   */
  author!: 'capo' | 'model' | 'person';
  /** By whom. */
  by!: ActorView;
  /**
   * When, Unix milliseconds.
   * @example 1771401660000
   */
  at!: number;
  /**
   * What the approval was bound to from then on.
   * @example '9deb65b8788f41ff94a217842017db2f843954fc0eb46110835903908e5a265f'
   */
  contentHash!: string;
  /** What changed since the revision before; empty for the draft. */
  changes!: RevisionChange[];
}

export class WaitingFor {
  /**
   * `draft`: the capo; `resume`: the capo is paused; `revert`: the kill switch is engaged; `input`: an edit that
   * supplies what is missing; `mode`: the guardian only observes; `decision`: a person who approves or rejects.
   * @example 'decision'
   */
  reason!: 'draft' | 'resume' | 'revert' | 'input' | 'mode' | 'decision';
  /**
   * The same for a person.
   * @example 'A person has to approve or reject it.'
   */
  message!: string;
}

export class ApprovalReason {
  /**
   * What the policy decided: allow, require_approval, deny or throttle.
   * @example 'require_approval'
   */
  outcome!: string;
  /**
   * Why, in a person's words; what decided stands first.
   * @example ['No standing order allows this work packet.']
   */
  explanation!: string[];
}

/** Something that waits for a person, or waited, as lists show it. */
export class ApprovalSummary {
  /**
   * The id of the approval.
   * @example 'apr_01khqw6q00tp9w1md2nw5hc13a'
   */
  approvalId!: string;
  /**
   * The directive that it is about.
   * @example 'dir_01khqw6q006hs686p8sr7arg9t'
   */
  directiveId!: string;
  /** The team that it belongs to; null: none. */
  teamId!: string | null;
  /**
   * The capo whose work it is; null while nobody was chosen.
   * @example 'capo_ops'
   */
  capo!: string | null;
  /**
   * What is approved: the output of a directive, a standing order, or spending beyond a budget.
   * @example 'output'
   */
  kind!: 'output' | 'standing_order' | 'budget_override';
  /**
   * Where it stands.
   * @example 'pending'
   */
  status!: ApprovalStatus;
  /**
   * True once the draft is attached; before that it cannot be approved.
   * @example true
   */
  ready!: boolean;
  /**
   * What it is about, in one line.
   * @example 'Email jane@acme.example and tell her that the delivery arrives on Friday.'
   */
  title!: string;
  /**
   * One sentence on the draft.
   * @example 'A mail to jane@acme.example is ready.'
   */
  summary!: string;
  /**
   * The priority of the directive: high, medium or low.
   * @example 'medium'
   */
  priority!: string;
  /**
   * True with priority high, with risk high or critical, or with less than 2 hours left.
   * @example false
   */
  urgent!: boolean;
  /**
   * low, medium, high or critical
   * @example 'medium'
   */
  risk!: string;
  /**
   * The highest class of its work packets: read_only, reversible, externally_reversible or irreversible.
   * @example 'irreversible'
   */
  reversibility!: string;
  /**
   * What an approval is bound to: SHA-256 over the draft and its work packets. Send it as `If-Match` to approve
   * exactly what was read; null until the draft is ready.
   * @example '9deb65b8788f41ff94a217842017db2f843954fc0eb46110835903908e5a265f'
   */
  contentHash!: string | null;
  /**
   * How much of the draft a person has to supply before it can be approved.
   * @example 0
   */
  inputsNeeded!: number;
  /** What has to happen next; null once it is decided. */
  waitingFor!: WaitingFor | null;
  /** Who handed in the directive. */
  requestedBy!: ActorView;
  /**
   * When it was asked for, Unix milliseconds.
   * @example 1771401600000
   */
  requestedAt!: number;
  /**
   * When it expires without a decision, Unix milliseconds.
   * @example 1771660800000
   */
  expiresAt!: number;
  /**
   * What happens when nobody decides in time.
   * @example 'reject'
   */
  onExpiry!: 'reject' | 'escalate';
  /** When it was decided, Unix milliseconds; null while it is pending. */
  decidedAt!: number | null;
  /** Who decided; null while it is pending. */
  @ApiProperty({ example: null })
  decidedBy!: ActorView | null;
  /** The surface of the decision: api, dashboard, cli, mcp or link; null while it is pending. */
  decidedVia!: string | null;
  /** The receipt of the decision; null while it is pending. */
  receiptId!: string | null;
  /** The approval of the draft that was asked for instead; null unless changes were requested. */
  nextApprovalId!: string | null;
}

/** Something that waits for a person, or waited, with all that is approved. */
export class ApprovalView extends ApprovalSummary {
  /** The draft; null until it is ready. */
  output!: ApprovalOutput | null;
  /** The work packets that are carried out once it is approved. */
  packets!: ApprovalWorkPacket[];
  /**
   * Why it is more dangerous than its work packets show; empty when it is not.
   * @example ['eve@evil.example stands neither in the directive nor in what the workspace knows.']
   */
  riskReasons!: string[];
  /** Each content that it had, oldest first: the draft, then what people made of it. */
  revisions!: ApprovalRevision[];
  /** Why a person is asked; null until the draft is ready. */
  policy!: ApprovalReason | null;
  /** What the person who rejected it said; null otherwise. */
  feedback!: string | null;
  /** While its draft is being made: how far that has come; null at any other time. */
  @ApiProperty({ example: null })
  drafting!: Drafting | null;
}

export class ApprovalPage extends PageFacts {
  /** The approvals of this page, urgent and oldest first. */
  items!: ApprovalSummary[];
}

export class ApprovalDecided {
  /**
   * The approval that was decided.
   * @example 'apr_01khqw6q00tp9w1md2nw5hc13a'
   */
  approvalId!: string;
  /**
   * What became of it: approved, rejected or changes_requested.
   * @example 'approved'
   */
  status!: string;
  /**
   * The directive that it is about.
   * @example 'dir_01khqw6q006hs686p8sr7arg9t'
   */
  directiveId!: string;
  /**
   * The status of the directive now.
   * @example 'sending'
   */
  directiveStatus!: string;
  /**
   * When it was decided, Unix milliseconds.
   * @example 1771401690000
   */
  decidedAt!: number;
  /**
   * The receipt of the decision.
   * @example 'rcp_01khqw9ewg14azqhp5x4vkpz0a'
   */
  receiptId!: string;
  /**
   * The approval that follows; only when changes were requested.
   * @example 'apr_01khqw6sxrdzg79npdmkrfqqh3'
   */
  nextApprovalId?: string;
}

/** Something that has to be supplied before it can be approved. */
export class InputDetail {
  /**
   * Where in the approval.
   * @example 'packets.0.params.body'
   */
  path!: string;
  /**
   * Always the same.
   * @example 'needsInput'
   */
  rule!: string;
  /**
   * What to supply, in a sentence.
   * @example 'Word the message: the directive only describes it.'
   */
  message!: string;
  /**
   * The work packet that lacks it.
   * @example 'pkt_01khqw6sb0xg7v9zhwnqcrxds8'
   */
  workPacketId!: string;
}

export class DecisionError {
  /**
   * The code of the error.
   * @example 'APPROVAL_EXPIRED'
   */
  code!: string;
  /**
   * What is wrong, for a person.
   * @example 'This approval has expired.'
   */
  message!: string;
  /**
   * The HTTP status that the same decision alone would get.
   * @example 410
   */
  status!: number;
  /** With INPUT_REQUIRED: what has to be supplied. */
  details?: InputDetail[];
}

export class DecisionResult {
  /**
   * The approval.
   * @example 'apr_01khqw6q00tp9w1md2nw5hc13a'
   */
  approvalId!: string;
  /**
   * What became of it; left out when the decision failed.
   * @example 'approved'
   */
  status?: string;
  /**
   * The receipt of the decision; left out when it failed.
   * @example 'rcp_01khqw9ewg14azqhp5x4vkpz0a'
   */
  receiptId?: string;
  /**
   * The approval that follows; only when changes were requested.
   * @example 'apr_01khqw6sxrdzg79npdmkrfqqh3'
   */
  nextApprovalId?: string;
  /** Why the decision failed; left out when it did not. */
  error?: DecisionError;
}

export class DecisionResults {
  /** One result for each decision, in the same order. */
  results!: DecisionResult[];
}
