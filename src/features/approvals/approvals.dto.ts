import { ApiProperty, ApiPropertyOptional, PickType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsBoolean, IsIn, IsInt, IsOptional, IsString, Matches, Max, Min } from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { FromDigits } from '../../platform/kernel/decorators.js';
import { PageFacts, TeamPageQuery } from '../../platform/kernel/pages.dto.js';
import { Length, MaxLength } from '../../platform/kernel/text-length.js';
import { Drafting, type FactKind } from '../capos/index.js';
import { CAPO_ROLES, type CapoRole } from '../terms/index.js';
import { LONGEST_GROUP_KEY } from './approval-group.js';
import type { Answer } from './question.js';
import { QuestionView } from './questions.dto.js';
import { ApprovalOutput, ApprovalRevision, ApprovalWorkPacket } from './approval-content.dto.js';
import { APPROVAL_STATUSES, type ApprovalStatus } from './approval.entity.js';

/** The optional header of an approval, as it is documented. */
export const IF_MATCH = {
  name: 'if-match',
  required: false,
  description:
    'The one content hash that was read, in quotes or bare: another one is 412. None, or `*`, is 428 once somebody else has edited the draft.',
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

export class ApprovalsQuery extends TeamPageQuery {
  /** Only approvals of this status, or `all`; pending ones unless said otherwise. @example 'pending' */
  @ApiPropertyOptional()
  @IsIn([...APPROVAL_STATUSES, 'all'])
  status: ApprovalStatus | 'all' = 'pending';

  /** Only approvals of this capo. @example 'capo_ops' */
  @IsOptional()
  @IsIn(CAPO_ROLES)
  capo?: CapoRole;

  /** Only urgent ones, or only the others; of `all`, only pending ones are divided so. @example true */
  @IsOptional()
  @Transform(({ value }) => (value === 'true' ? true : value === 'false' ? false : value))
  @IsBoolean()
  urgent?: boolean;

  /**
   * Only those that can be decided together: the `groupKey` of one of them.
   * @example 'capo_ops email.send acme.example medium'
   */
  @IsOptional()
  @IsString()
  @Length(1, LONGEST_GROUP_KEY)
  group?: string;
}

export class ContentsQuery {
  /**
   * The ids of up to 100 approvals, separated by commas.
   * @example 'apr_01khqw6q00tp9w1md2nw5hc13a,apr_01khqw6q00tp9w1md2nw5hc13b'
   */
  @MaxLength(100 * 31 - 1)
  @Matches(/^apr_[0-9a-z]{26}(,apr_[0-9a-z]{26})*$/, {
    message: 'ids must be up to 100 ids of approvals, separated by commas',
  })
  ids!: string;
}

export class DecisionWaitQuery {
  /** How many seconds to wait for what is awaited. @example 10 */
  @ApiPropertyOptional()
  @IsOptional()
  @FromDigits()
  @IsInt()
  @Min(0)
  @Max(30)
  wait: number = 0;
}

export class WaitQuery extends DecisionWaitQuery {
  /** What to wait for: `draft`, until it is ready or decided; `decision`, until it is decided. @example 'decision' */
  @ApiPropertyOptional()
  @IsOptional()
  @IsIn(['draft', 'decision'])
  for: 'draft' | 'decision' = 'draft';
}

export class WaitingFor {
  /**
   * `draft`: the capo; `resume`: the capo is paused; `revert`: the kill switch is engaged; `input`: an edit that
   * supplies what is missing; `mode`: the guardian only observes; `approvers`: fewer members may approve it than have to;
   * `decision`: a person who approves, answers or rejects.
   * @example 'decision'
   */
  reason!: 'draft' | 'resume' | 'revert' | 'input' | 'mode' | 'approvers' | 'decision';
  /** The same for a person. @example 'A person has to approve or reject it.' */
  message!: string;
}

export class ApprovalReason {
  /** What the policy decided: allow, require_approval, deny or throttle. @example 'require_approval' */
  outcome!: string;
  /** Why, in a person's words; what decided stands first. @example ['No standing order allows this work packet.'] */
  explanation!: string[];
  /**
   * The amount that an agent from outside asks for, in the major unit of its currency; left out where it is not known.
   * @example '60.00 EUR'
   */
  amount?: string;
}

/** The agent from outside that asks. */
class ApprovalAgent {
  /** The first token of its rotations. @example 'tok_01kerqg9j0k7zrqfjnrxthcm4w' */
  tokenId!: string;
  /** As its token names it. @example 'CRM cleaner' */
  name!: string;
}

/** A standing order that says who may approve: members with one of the roles or a higher one, and the members named. */
export class ApprovalApprovers {
  /** The standing order. @example 'so_01kerr2kg0xaen9f9sdsg8py4z' */
  standingOrderId!: string;
  /** Its name. @example 'Large refunds' */
  name!: string;
  /** operator, admin or owner, in the team of the approval. @example ['admin'] */
  roles!: string[];
  /** Ids of members. @example ['mem_01kerq74k0wtbyzq0h359nrdxj'] */
  memberIds!: string[];
}

/** That one member has approved the present content. */
class ApprovalVote {
  /** Who. */
  by!: ActorView;
  /** When, Unix milliseconds. @example 1771401690000 */
  at!: number;
  /** The receipt of it. @example 'rcp_01khqw9ewg14azqhp5x4vkpz0a' */
  receiptId!: string;
}

/** How many people have approved, and how many have to. */
export class VoteCount {
  /** How many have; an edit sets it back to 0. @example 1 */
  have!: number;
  /** How many have to. @example 2 */
  need!: number;
}

/** How many people have approved, who they are, and who may. */
export class ApprovalVotes extends VoteCount {
  /** Who has approved the present content, in that order. */
  by!: ApprovalVote[];
  /** The standing orders that name approvers: a member may approve if each of them names that member. Empty: everybody who may approve. */
  approvers!: ApprovalApprovers[];
}

/** Something that waits for a person, or waited, as lists show it. */
export class ApprovalSummary {
  /** The id of the approval. @example 'apr_01khqw6q00tp9w1md2nw5hc13a' */
  approvalId!: string;
  /** The directive that it is about; null where an agent from outside asks. @example 'dir_01khqw6q006hs686p8sr7arg9t' */
  directiveId!: string | null;
  /** The action request of an agent from outside that it is about; null: none. */
  actionRequestId!: string | null;
  /** The agent from outside that asks; null where none does. */
  @ApiProperty({ example: null })
  agent!: ApprovalAgent | null;
  /** The question of an agent from outside that it is about; null: none. */
  questionId!: string | null;
  /** The team that it belongs to; null: none. */
  teamId!: string | null;
  /** The capo whose work it is; null while nobody was chosen. @example 'capo_ops' */
  capo!: string | null;
  /**
   * What is decided: the output of a directive, a standing order, spending beyond a budget, or an action or a question of an agent from outside.
   * @example 'output'
   */
  kind!: 'output' | 'standing_order' | 'budget_override' | 'action' | 'question';
  /** Where it stands. @example 'pending' */
  status!: ApprovalStatus;
  /** True once the draft is attached; before that it cannot be approved. @example true */
  ready!: boolean;
  /**
   * Its subject, in one line.
   * @example 'Email jane@acme.example and tell her that the delivery arrives on Friday.'
   */
  title!: string;
  /** One sentence on the draft. @example 'A mail to jane@acme.example is ready.' */
  summary!: string;
  /** The priority of the directive: high, medium or low. @example 'medium' */
  priority!: string;
  /**
   * True with priority high, with risk critical (or high, unless an agent asks), or with less than 2 hours left.
   * @example false
   */
  urgent!: boolean;
  /** low, medium, high or critical @example 'medium' */
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
   * What can be decided together has one key: the same capo, action types, target domains and risk (`?group=` lists them,
   * `POST /approvals` decides up to 100). Null until the draft is ready, and for one without work packets.
   * @example 'capo_ops email.send acme.example medium'
   */
  groupKey!: string | null;
  /** How much of the draft a person has to supply before it can be approved. @example 0 */
  inputsNeeded!: number;
  /** What the person who rejected it said, or why it was cancelled; null otherwise. Lists have its first 500 characters. */
  feedback!: string | null;
  /** What has to happen next; null once it is decided. */
  waitingFor!: WaitingFor | null;
  /** Who handed in the directive. */
  requestedBy!: ActorView;
  /** When it was asked for, Unix milliseconds. @example 1771401600000 */
  requestedAt!: number;
  /** When it expires without a decision, Unix milliseconds. @example 1771660800000 */
  expiresAt!: number;
  /** What happens when nobody decides in time. @example 'reject' */
  onExpiry!: 'reject' | 'escalate';
  /** How many people have approved it, and how many have to. */
  votes!: ApprovalVotes;
  /** When it was decided, Unix milliseconds; null while it is pending. */
  decidedAt!: number | null;
  /** Who decided, of several who approved the last; null while it is pending. */
  @ApiProperty({ example: null })
  decidedBy!: ActorView | null;
  /** The surface of the decision: api, dashboard, cli, mcp or link; null while it is pending. The client's own claim: see `via`. */
  decidedVia!: string | null;
  /** The receipt of the decision; null while it is pending. */
  receiptId!: string | null;
  /** The approval of the draft that was asked for instead; null unless changes were requested. */
  nextApprovalId!: string | null;
}

/** What an agent from outside asks, in its own words, which nobody has checked. */
export class ApprovalQuestion extends PickType(QuestionView, ['title', 'answerSchema', 'reason']) {}

/** Something that waits for a person, or waited, with all that is approved. */
export class ShownApproval extends ApprovalSummary {
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
  /** What an agent from outside asks; null where nothing is asked. */
  @ApiProperty({ example: null })
  question!: ApprovalQuestion | null;
  /** What a person answered; null until then. */
  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true, example: null })
  answer!: Answer | null;
  /** Why a person is asked; null until the draft is ready. */
  policy!: ApprovalReason | null;
  /** While its draft is being made: how far that has come; null at any other time. */
  @ApiProperty({ example: null })
  drafting!: Drafting | null;
}

export class ApprovalPage extends PageFacts {
  /** The approvals of this page, urgent and oldest first. */
  items!: ApprovalSummary[];
}

/** What several approvals are about, for those who decide them together. */
export class ApprovalContents {
  /**
   * As many as fit into an answer, at least one: ask again for the rest. Those that the caller may not see are left out. Their
   * revisions are without what was changed.
   */
  items!: ShownApproval[];
}

/** Where a fact comes from; `unverified` is in the words of its author alone, and so is what a standing order forbids. */
export type Origin =
  | 'directive'
  | 'delegation'
  | 'context'
  | 'workspace'
  | 'standing_order'
  | 'forbidden'
  | 'person'
  | 'unverified';

/** A recipient, address, link, account or amount in a work packet, and where it comes from. */
export class ApprovalSource {
  /** The work packet. @example 'pkt_01khqw6sb0xg7v9zhwnqcrxds8' */
  workPacketId!: string;
  /** The parameter that holds it. @example 'params.to' */
  path!: string;
  /** recipient, mail address, link, bank account, wallet address or amount @example 'recipient' */
  kind!: FactKind;
  /** The fact; a link without its scheme. @example 'jane@acme.example' */
  text!: string;
  /**
   * `directive`: a person's directive, or the wish with which a draft was sent back; `delegation`: a directive that a capo or an
   * agent handed in; `context`: the context of the directive; `workspace`: the workspace's settings or figures; `standing_order`: a
   * condition of an active order that allows; `forbidden`: a condition of one that denies; `person`: a person wrote it into the draft; `unverified`: it stands in none of these.
   * @example 'directive'
   */
  origin!: Origin;
  /**
   * Who handed in the directive or edited the draft, or the name of the standing order; null where there is no name.
   * @example 'Mira Novak'
   */
  name!: string | null;
}

/** A member who may approve. */
export class ApprovalApprover {
  /** The membership. @example 'mem_01kerq74k0wtbyzq0h359nrdxj' */
  memberId!: string;
  /** Their name. @example 'Tom Weber' */
  name!: string;
}

/** An approval with what a person should know before they decide; empty once it is decided. */
export class ApprovalView extends ShownApproval {
  /** Each recipient, address, link, account and amount of the draft, with where it comes from. */
  sources!: ApprovalSource[];
  /** The members who may approve it and have not, at most 50, by name. */
  mayApprove!: ApprovalApprover[];
  /** Why the caller may not approve it; null: they may, or it is not there to be decided. */
  @ApiProperty({ example: null })
  refusal!: string | null;
}

export type ApprovalBackground = Pick<ApprovalView, 'sources' | 'mayApprove' | 'refusal'>;
