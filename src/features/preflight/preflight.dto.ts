import { PickType } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsIn, IsObject, IsOptional, IsString, Matches, ValidateNested } from 'class-validator';
import { IsNotBlank } from '../../platform/kernel/plain-text.js';
import { MaxLength } from '../../platform/kernel/text-length.js';
import { ApprovalApprovers } from '../approvals/index.js';
import { QueuedDirectiveBody, RoutingCandidate } from '../directives/index.js';
import { GuardianView } from '../guardian/index.js';
import { CAPO_ROLES, type CapoRole, type Reversibility, TOOL_NAME } from '../terms/index.js';

const MAX_TEXT = 20_000;

export type PreflightOutcome = 'allow' | 'throttle' | 'require_approval' | 'deny' | 'halted';

/** An action as a work packet would have it, or the call of a tool that an agent from outside would ask for. */
export class PreflightActionBody {
  /** The action type; or give `tool`. @example 'email.send' */
  @IsOptional()
  @IsString()
  @MaxLength(100)
  type?: string;

  /** The tool that an agent from outside would ask for. @example 'crm.refund' */
  @IsOptional()
  @Matches(TOOL_NAME, { message: 'tool must be the name of a tool, such as crm.refund' })
  tool?: string;

  /** With `tool`: the name of the agent that would ask. Left out: a member with a token of their own. @example 'invoice-bot' */
  @IsOptional()
  @IsString()
  @MaxLength(100)
  agent?: string | null;

  /**
   * Its parameters; the action type or the tool defines the fields.
   * @example { "to": ["jane@acme.example"], "subject": "Your delivery", "body": "Hello Jane, it arrives on Friday." }
   */
  @IsObject()
  params!: Record<string, unknown>;
}

/** Body of `POST /guardian/preflight`: either a directive or an action. */
export class PreflightBody extends PickType(QueuedDirectiveBody, ['priority', 'context', 'teamId']) {
  /**
   * A plain-language instruction, at most 20,000 characters.
   * @example 'Email jane@acme.example and tell her that the delivery arrives on Friday.'
   */
  @IsOptional()
  @IsString()
  @Matches(/\S/, { message: 'directive must not be empty' })
  @IsNotBlank()
  @MaxLength(MAX_TEXT)
  directive?: string;

  /** A single action. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => PreflightActionBody)
  action?: PreflightActionBody;

  /**
   * The capo that would do it. Left out: a directive is routed; of an action the answer is the strictest of all capos that
   * can do it.
   * @example 'capo_ops'
   */
  @IsOptional()
  @IsIn(CAPO_ROLES)
  capo?: CapoRole;
}

/** Who would do it, and why. */
export class PreflightRoute {
  /** The capo that would do it; null: several could, and none was named, or an agent from outside would. @example 'capo_ops' */
  capo!: CapoRole | null;
  /** operator (named in the request) or consigliere @example 'operator' */
  routedBy!: 'operator' | 'consigliere';
  /** The capos that were considered, best first; empty where the request names one. */
  candidates!: RoutingCandidate[];
  /** Why this capo. @example 'The request names Ops.' */
  reason!: string;
}

/** A standing order that holds for it. */
export class PreflightMatch {
  /** The id of the standing order. @example 'so_01kerr2kg0xaen9f9sdsg8py4z' */
  standingOrderId!: string;
  /** The version that was in force. @example 1 */
  version!: number;
  /** allow, throttle, require_approval or deny @example 'allow' */
  effect!: string;
}

/** Where a limit or budget would stand afterwards. */
export class PreflightLimit {
  /** The standing order whose limit it is. @example 'so_01kerr2kg0xaen9f9sdsg8py4z' */
  standingOrderId!: string;
  /** maxPerHour, maxPerDay, maxRecipients, maxAmountPerDay or budget @example 'maxPerHour' */
  limit!: string;
  /** How much is allowed. @example 10 */
  allowed!: number;
  /** How much would be used. @example 3 */
  used!: number;
  /** Whether it would hold. @example true */
  holds!: boolean;
  /** Where it would only have to wait: when there is room for it, Unix milliseconds. @example 1768213200000 */
  until?: number;
}

export class PreflightGuardian extends PickType(GuardianView, ['mode', 'epoch']) {}

export class PreflightCost {
  /** What it would cost, in `currency`. @example 0 */
  amount!: number;
  /** ISO 4217 code. @example 'USD' */
  currency!: string;
  /** Tokens that would be sent to a model. @example 0 */
  tokensIn!: number;
  /** Tokens that a model would answer. @example 0 */
  tokensOut!: number;
}

/** A work packet that it would come to, or what an agent from outside would ask for. */
export class PreflightPacket {
  /** What it does, in one line. @example 'Mail to jane@acme.example: Your delivery' */
  title!: string;
  /** The action type, or the tool. @example 'email.send' */
  type!: string;
  /** Whom or what it reaches; null: nobody yet, or nothing in particular. */
  target!: string | null;
  /** How far it can be undone. @example 'irreversible' */
  reversibility!: Reversibility;
  /** What would be decided about it. @example 'require_approval' */
  outcome!: PreflightOutcome;
  /** What a person would have to supply, as paths. @example [] */
  needsInput!: string[];
}

/** How many people would have to approve, and who may. */
export class PreflightApproval {
  /** How many people. @example 2 */
  quorum!: number;
  /** The standing orders that name approvers: a member may approve if each of them names that member. Empty: everybody who may approve. */
  approvers!: ApprovalApprovers[];
}

/** What would happen, and why (CONTRACT, Preflight). */
export class PreflightView {
  /** The id of this answer, which is stored nowhere. @example 'pfl_01kerr2kg0m4c1v0t8y6d3zqax' */
  preflightId!: string;
  /**
   * allow, throttle (it would wait), require_approval, deny, or halted while nothing is done at all. Of several work
   * packets the strictest counts.
   * @example 'require_approval'
   */
  outcome!: PreflightOutcome;
  /** Why, in a person's words; what decides stands first. @example ['No standing order allows this work packet.'] */
  explanation!: string[];
  /** Where a person would be asked: how many people have to approve, and who may; null with any other outcome. */
  approval!: PreflightApproval | null;
  /** Who would do it. */
  route!: PreflightRoute;
  /** The work packets that it would come to; none where that cannot be told beforehand. */
  packets!: PreflightPacket[];
  /** The standing orders that were looked at, by id. @example ['so_01kerr2kg0xaen9f9sdsg8py4z'] */
  considered!: string[];
  /** The standing orders that hold for it. */
  matched!: PreflightMatch[];
  /** The limits and budgets that were looked at, as they would stand afterwards. */
  limits!: PreflightLimit[];
  /** The guardian's mode. */
  guardian!: PreflightGuardian;
  /** How far it can be undone: the highest class of its work packets; null where they cannot be told beforehand. */
  reversibility!: Reversibility | null;
  /** What a model would cost, going by the last directives of the capo; null: there are none to go by. */
  estimatedCost!: PreflightCost | null;
  /**
   * What the answer does not say, or may say wrong.
   * @example ['A draft is handed in for review unless `requiresApproval` is false.']
   */
  warnings!: string[];
  /**
   * SHA-256 over everything the decision depended on, in hex; over the list of these hashes where there are several
   * decisions, or none.
   * @example 'c96c6d5be8d08a12e7b5cdc1b207fa6b2430974c86803d8891675e76fd992c20'
   */
  decisionHash!: string;
}
