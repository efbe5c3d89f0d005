import { IsOptional, Matches } from 'class-validator';
import { PageFacts } from '../../platform/kernel/pages.dto.js';
import { IsPlainText } from '../../platform/kernel/plain-text.js';
import type { Intent } from './intents.js';

/** The parameter of the path, as it is documented. */
export const CONVERSATION_PARAM = {
  name: 'conversationId',
  description: 'The id of the conversation.',
  example: 'cnv_01kerr2kg0b6y3v9m5d8q1tzxw',
};

const MAX_MESSAGE = 4_000;

/** Body of `POST /consigliere/chat`. */
export class ChatBody {
  /** What you ask, or want done, at most 4,000 characters. @example 'What waits for me?' */
  @IsPlainText(MAX_MESSAGE)
  message!: string;

  /** Goes on in this conversation of yours; left out, a new one begins. @example 'cnv_01kerr2kg0b6y3v9m5d8q1tzxw' */
  @IsOptional()
  @Matches(/^cnv_[0-7][0-9a-hjkmnp-tv-z]{25}$/, { message: '$property must be the id of a conversation' })
  conversationId?: string;

  /** The team of the directive that the message asks for. Left out: your only team. @example 'team_01kerq74k0wtbyzq0h359nrdxj' */
  @IsOptional()
  @Matches(/^team_[0-9a-z]{26}$/, { message: '$property must be the id of a team' })
  teamId?: string;

  /**
   * The record that the member looks at, which "this" in the message means: the id of a directive, a work packet, an approval, an
   * action request, a standing order or an escalation.
   * @example 'apr_01khqw6q00fr0vpnqthbc7s4n2'
   */
  @IsOptional()
  @Matches(/^(?:dir|pkt|apr|act|so|esc)_[0-7][0-9a-hjkmnp-tv-z]{25}$/, {
    message:
      '$property must be the id of a directive, work packet, approval, action request, order or escalation',
  })
  about?: string;
}

/** What a message was taken for, with the records that the reply was made from. */
export class ChatIntentView {
  /**
   * waiting, failed, sent, mail, approved, agent, decision, guardian, revenue, cost, signals, standing_orders, hand_in_asked,
   * hand_in, refused, help or not_answered
   * @example 'waiting'
   */
  intent!: Intent;
  /** The ids of the records, at most 50. @example ["apr_01khqw6q00fr0vpnqthbc7s4n2"] */
  ids!: string[];
}

/** Answer of `POST /consigliere/chat`. */
export class ChatAnswer {
  /** The conversation, to go on in. @example 'cnv_01kerr2kg0b6y3v9m5d8q1tzxw' */
  conversationId!: string;
  /** The answer, plain text. @example 'Nothing waits for a decision.' */
  reply!: string;
  /** What the message was taken for. */
  intents!: ChatIntentView[];
  /** The directive that was handed in, if any. @example ["dir_01khqw6q006hs686p8sr7arg9t"] */
  directiveIds!: string[];
}

/** A conversation as lists show it. */
export class ConversationSummary {
  /** The id of the conversation. @example 'cnv_01kerr2kg0b6y3v9m5d8q1tzxw' */
  conversationId!: string;
  /** The beginning of its first message. @example 'What waits for me?' */
  title!: string;
  /** How many messages it has, questions and answers together. @example 2 */
  messages!: number;
  /** When it began, Unix milliseconds. @example 1771401690000 */
  createdAt!: number;
  /** When its last message was written, Unix milliseconds. @example 1771401690000 */
  lastMessageAt!: number;
}

export class ConversationPage extends PageFacts {
  /** The conversations of this page, the last used first. */
  items!: ConversationSummary[];
}

export class ChatEngineView {
  /** `builtin` (the rules, without a model), or the provider of the model. @example 'builtin' */
  name!: string;
  /** The model that was asked; null: none. */
  model!: string | null;
}

export class ChatCostView {
  /** What the answer cost, in `currency`. @example 0 */
  amount!: number;
  /** ISO 4217 code. @example 'USD' */
  currency!: string;
  /** Tokens that were sent to the model. @example 0 */
  tokensIn!: number;
  /** Tokens that the model answered. @example 0 */
  tokensOut!: number;
}

/** A record that an answer was made from. */
export class ChatSource {
  /** Its id. @example 'apr_01khqw6q00fr0vpnqthbc7s4n2' */
  id!: string;
  /** Its title, plain text. @example 'A mail to jane@acme.example' */
  title!: string;
}

/** A message of a conversation. */
export class ChatMessageView {
  /** Its place in the conversation, from 1. @example 2 */
  position!: number;
  /** member or consigliere @example 'consigliere' */
  author!: 'member' | 'consigliere';
  /** What was written, plain text. @example 'Nothing waits for a decision.' */
  body!: string;
  /** What the message before was taken for. */
  intents!: ChatIntentView[];
  /** The directive that was handed in, if any. @example ["dir_01khqw6q006hs686p8sr7arg9t"] */
  directiveIds!: string[];
  /** The titles of those of these records that the caller may see now. */
  sources!: ChatSource[];
  /** What answered; null for what the member wrote. */
  engine!: ChatEngineView | null;
  /** What the answer cost; null for what the member wrote. */
  cost!: ChatCostView | null;
  /** When it was written, Unix milliseconds. @example 1771401690000 */
  createdAt!: number;
}

/** A conversation with its messages. Those that show teams you are not in any more are left out. */
export class ConversationView extends ConversationSummary {
  /** The messages of this page, the newest first. */
  items!: ChatMessageView[];
  /** Send it as `before` to read on; null behind the last page. */
  nextBefore!: number | null;
}
