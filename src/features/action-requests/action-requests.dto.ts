import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsBoolean, IsIn, IsObject, IsOptional, Matches, ValidateNested } from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { PageFacts } from '../../platform/kernel/pages.dto.js';
import { IsPlainText } from '../../platform/kernel/plain-text.js';
import { type Reversibility, type Risk, TOOL_NAME } from '../terms/index.js';
import { AskBody, AskedQuery, AskedView } from '../workspaces/index.js';
import { ACTION_REQUEST_STATUSES, type ActionRequestStatus } from './action-request.entity.js';

/** The parameter of the paths, as it is documented. */
export const ACTION_REQUEST_PARAM = {
  name: 'actionRequestId',
  description: 'The id of the action request.',
  example: 'act_01khqw6sb0xg7v9zhwnqcrxds8',
};

const TOOL_MESSAGE = { message: '$property must be the name of a tool, such as crm.refund' };
const VISIBLE = /^[\x21-\x7e]{1,255}$/;
const SHA_256 = /^[0-9a-f]{64}$/;

/** Which run of the agent asks, for people who look it up there. */
export class AgentRun {
  /** As the agent's own framework names it. @example 'run_7f3a' */
  @Matches(VISIBLE, { message: '$property must have 1 to 255 visible ASCII characters' })
  id!: string;

  /** The framework of the agent. @example 'langgraph' */
  @IsOptional()
  @Matches(VISIBLE, { message: '$property must have 1 to 255 visible ASCII characters' })
  framework?: string | null;
}

/** Body of `POST /action-requests`. */
export class CreateActionRequestBody extends AskBody {
  /** The tool, byte for byte as it is registered. @example 'crm.refund' */
  @Matches(TOOL_NAME, TOOL_MESSAGE)
  tool!: string;

  /** The exact parameters of the call, at most 64 KB. @example { "order": "A-17", "amount": 25, "currency": "EUR" } */
  @IsObject()
  params!: Record<string, unknown>;

  /** Which run of the agent asks. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => AgentRun)
  run?: AgentRun | null;

  /**
   * The fingerprint of the tool as the agent knows it. One that is not the tool's asks a person.
   * @example '9deb65b8788f41ff94a217842017db2f843954fc0eb46110835903908e5a265f'
   */
  @IsOptional()
  @Matches(SHA_256, { message: '$property must be a SHA-256 in lower-case hex' })
  fingerprint?: string | null;

  /**
   * Consumes at once what is allowed. The attempt is the `actionRequestId`: with it, consume gives an answer that was lost again for a
   * minute.
   * @example false
   */
  @IsOptional()
  @IsBoolean()
  consume?: boolean;
}

/** Query of `GET /action-requests`; what is left out does not narrow it. */
export class ActionRequestsQuery extends AskedQuery {
  /** Only requests with this status. @example 'pending' */
  @IsOptional()
  @IsIn(ACTION_REQUEST_STATUSES)
  status?: ActionRequestStatus;

  /** Only requests for this tool. @example 'crm.refund' */
  @IsOptional()
  @Matches(TOOL_NAME, TOOL_MESSAGE)
  tool?: string;
}

/** Body of `POST /action-requests/{id}/consume`. */
export class ConsumeBody {
  /**
   * A random text of the agent for this try, of 128 bits or more: within 60 seconds the same one gets the same answer, and no
   * other consumes the request again.
   * @example 'b3f1c7f0a9d84e6f8a1f2c3d4e5f6071'
   */
  @Matches(/^[\x21-\x7e]{22,255}$/, {
    message: '$property must be a random text of 22 to 255 visible ASCII characters',
  })
  attempt!: string;

  /** The parameters that the agent is about to use. @example { "order": "A-17", "amount": 25, "currency": "EUR" } */
  @IsOptional()
  @IsObject()
  params?: Record<string, unknown>;

  /**
   * Instead of them, their SHA-256 as the request shows it.
   * @example '9deb65b8788f41ff94a217842017db2f843954fc0eb46110835903908e5a265f'
   */
  @IsOptional()
  @Matches(SHA_256, { message: '$property must be a SHA-256 in lower-case hex' })
  paramsHash?: string;
}

/** Body of `POST /action-requests/{id}/result`. */
export class ActionResultBody {
  /** Whether it was carried out. @example 'succeeded' */
  @IsIn(['succeeded', 'failed'])
  outcome!: 'succeeded' | 'failed';

  /** What came of it, in one sentence. @example 'Refunded 25 EUR for the order A-17.' */
  @ApiProperty({ maxLength: 500, pattern: '\\S' })
  @IsPlainText(500, { visible: true })
  summary!: string;

  /** What the tool answered, at most 8 KB. @example { "refundId": "re_123" } */
  @IsOptional()
  @IsObject()
  output?: Record<string, unknown> | null;
}

/** Which run of the agent asks. */
export class AgentRunView {
  /** As the agent's own framework names it. @example 'run_7f3a' */
  id!: string;
  /** The framework of the agent. @example 'langgraph' */
  framework!: string | null;
}

export class ActionPolicy {
  /** What the policy decided: allow, require_approval, deny or throttle. @example 'require_approval' */
  outcome!: string;
  /**
   * Why, in a person's words. The agent itself is told no bounds of the orders.
   * @example ['No standing order allows this action.']
   */
  explanation!: string[];
}

export class ActionDecisionView {
  /** What was decided. @example 'approved' */
  outcome!: 'allowed' | 'approved' | 'denied' | 'rejected';
  /** Who decided: the guardian by the standing orders, or a person. */
  decidedBy!: ActorView;
  /** Unix milliseconds. @example 1771401690000 */
  decidedAt!: number;
  /**
   * The parameters as they may be used: as asked for, or as a person changed them.
   * @example { "order": "A-17", "amount": 20, "currency": "EUR" }
   */
  params!: Record<string, unknown>;
  /** What the person who rejected it said. */
  feedback!: string | null;
}

export class ActionResultView {
  /** Whether it was carried out, as the agent says, or a person who looked. @example 'succeeded' */
  outcome!: 'succeeded' | 'failed';
  /** What came of it, in one sentence. @example 'Refunded 25 EUR for the order A-17.' */
  summary!: string;
  /** What the tool answered. @example { "refundId": "re_123" } */
  output!: Record<string, unknown> | null;
  /** Unix milliseconds. @example 1771401699000 */
  at!: number;
  /** The person who found out what came of it; left out where the agent has said it. */
  foundBy?: ActorView;
}

/** An action request as lists show it. */
export class ActionRequestSummary extends AskedView {
  /** The id of the action request. @example 'act_01khqw6sb0xg7v9zhwnqcrxds8' */
  actionRequestId!: string;
  /** The tool. @example 'crm.refund' */
  tool!: string;
  /** What it does, in one line. @example 'Refund 25 EUR for A-17' */
  title!: string;
  /**
   * SHA-256 of RFC 8785 `{ tool, params }`, of the parameters as decided.
   * @example '9deb65b8788f41ff94a217842017db2f843954fc0eb46110835903908e5a265f'
   */
  paramsHash!: string;
  /** Where it stands. @example 'pending' */
  status!: ActionRequestStatus;
  /** Why it ended, where no person decided that. */
  endedBecause!: string | null;
  /** The approval that waits for a person, or waited; null: none. */
  approvalId!: string | null;
  /** While it is paced: when it is decided again, Unix milliseconds. */
  retryAt!: number | null;
  /** What the policy decided, and why. */
  policy!: ActionPolicy;
  /** low, medium, high or critical @example 'medium' */
  risk!: Risk;
  /** How far it can be undone: read_only, reversible, externally_reversible or irreversible. @example 'irreversible' */
  reversibility!: Reversibility;
  /** Until when it can be consumed, Unix milliseconds; null until it may be. */
  consumeBy!: number | null;
  /** When it was consumed, Unix milliseconds. */
  consumedAt!: number | null;
  /** Until when the agent may begin to act, Unix milliseconds. */
  actBy!: number | null;
  /** Until when a result is expected, Unix milliseconds. */
  completeBy!: number | null;
  /** The newest receipt about it. @example 'rcp_01khqw9ewg14azqhp5x4vkpz0a' */
  receiptId!: string;
}

/** An action request, whole. */
export class ActionRequestView extends ActionRequestSummary {
  /** The parameters as they were asked for. @example { "order": "A-17", "amount": 25, "currency": "EUR" } */
  params!: Record<string, unknown>;
  /** Which run of the agent asks. */
  run!: AgentRunView | null;
  /** What was decided; null until then. */
  @ApiProperty({ example: null })
  decision!: ActionDecisionView | null;
  /** What came of it, as the agent says; null until then. */
  @ApiProperty({ example: null })
  result!: ActionResultView | null;
}

/** An action request that was consumed: it may be carried out once, now. */
export class ConsumedActionRequest extends ActionRequestView {
  /**
   * For the guard in front of the tool: a JWS that is bound to exactly these parameters and valid for 60 seconds. It is returned
   * nowhere else. Its key is at /.well-known/jwks.json.
   * @example 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhY3RfMDFraHF3In0.c2lnbmF0dXJl'
   */
  permit!: string;
}

/** What `POST /action-requests` answers. */
export class AskedActionRequest extends ActionRequestView {
  /**
   * With `consume: true`, once it is allowed: what carries it out (see consume).
   * @example 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhY3RfMDFraHF3In0.c2lnbmF0dXJl'
   */
  permit?: string;
}

/** A public key by which permits are verified (RFC 8037). */
export class PermitPublicKey {
  /** The type of the key. @example 'OKP' */
  kty!: string;
  /** Its curve. @example 'Ed25519' */
  crv!: string;
  /** The key itself, base64url. @example '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' */
  x!: string;
  /** Its id, which the header of a permit names. @example 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k' */
  kid!: string;
  /** The algorithm that it is for. @example 'EdDSA' */
  alg!: string;
  /** What it is for. @example 'sig' */
  use!: string;
}

/** What `GET /.well-known/jwks.json` answers (RFC 7517). */
export class PermitKeySet {
  /** The keys. */
  keys!: PermitPublicKey[];
}

export class ActionRequestPage extends PageFacts {
  /** The action requests of this page, newest first. */
  items!: ActionRequestSummary[];
}
