import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsObject, IsOptional } from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { PageFacts } from '../../platform/kernel/pages.dto.js';
import { IsPlainText } from '../../platform/kernel/plain-text.js';
import type { Answer, AnswerSchema } from './question.js';
import { AskBody, AskedQuery, AskedView } from '../workspaces/index.js';

/** The parameter of the paths, as it is documented. */
export const QUESTION_PARAM = {
  name: 'questionId',
  description: 'The id of the question.',
  example: 'qst_01khqw6sb0xg7v9zhwnqcrxds8',
};

export const QUESTION_STATUSES = ['pending', 'answered', 'declined', 'expired', 'cancelled'] as const;
export type QuestionStatus = (typeof QUESTION_STATUSES)[number];

/** Body of `POST /questions`. */
export class CreateQuestionBody extends AskBody {
  /** The question, in one line of at most 300 characters. @example 'Which plan does the customer get?' */
  @IsPlainText(300, { oneLine: true, visible: true })
  title!: string;

  /**
   * The form of the answer, as flat as those of MCP elicitation: `type: object`, up to 20 `properties` of the types string (with
   * `minLength`, `maxLength`, `format` email, uri, date or date-time; or `enum` with `enumNames`, or `oneOf` of `{ const, title }`),
   * number and integer (`minimum`, `maximum`), boolean, and array (`items` with an `enum`, or `anyOf` of `{ const, title }`;
   * `minItems`, `maxItems`), each with `title`, `description` and `default`; and `required`. At most 16 KB.
   * @example { "type": "object", "properties": { "plan": { "type": "string", "enum": ["basic", "pro"] } }, "required": ["plan"] }
   */
  @ApiProperty({ type: 'object', additionalProperties: true })
  @IsObject()
  answerSchema!: AnswerSchema;
}

/** Query of `GET /questions`; what is left out does not narrow it. */
export class QuestionsQuery extends AskedQuery {
  /** Only questions with this status. @example 'pending' */
  @IsOptional()
  @IsIn(QUESTION_STATUSES)
  status?: QuestionStatus;
}

/** Body of `POST /approvals/{approvalId}/respond`. */
export class RespondBody {
  /** The answer, as the `answerSchema` of the question wants it. @example { "plan": "pro" } */
  @ApiProperty({ type: 'object', additionalProperties: true })
  @IsObject()
  answer!: Answer;
}

/** A question as lists show it. */
export class QuestionSummary extends AskedView {
  /** The id of the question. @example 'qst_01khqw6sb0xg7v9zhwnqcrxds8' */
  questionId!: string;
  /** The question, in the agent's words. @example 'Which plan does the customer get?' */
  title!: string;
  /** Where it stands. @example 'pending' */
  status!: QuestionStatus;
  /** Who answered; null until then. */
  @ApiProperty({ example: null })
  answeredBy!: ActorView | null;
  /** Why a person declined it, or why it was cancelled. Lists have its first 500 characters. */
  feedback!: string | null;
  /** When it was answered, declined or cancelled, or expired, Unix milliseconds; null until then. */
  endedAt!: number | null;
  /** The approval by which a person answers. @example 'apr_01khqw6q00tp9w1md2nw5hc13a' */
  approvalId!: string;
  /** The receipt of how it ended; null while it is pending. */
  receiptId!: string | null;
}

/** A question, whole. */
export class QuestionView extends QuestionSummary {
  /**
   * The form of the answer, as flat as those of MCP elicitation.
   * @example { "type": "object", "properties": { "plan": { "type": "string", "enum": ["basic", "pro"] } }, "required": ["plan"] }
   */
  @ApiProperty({ type: 'object', additionalProperties: true })
  answerSchema!: AnswerSchema;
  /** The answer; null until there is one. */
  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true, example: null })
  answer!: Answer | null;
}

export class QuestionPage extends PageFacts {
  /** The questions of this page, newest first. */
  items!: QuestionSummary[];
}
