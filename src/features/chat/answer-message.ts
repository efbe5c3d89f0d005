import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { computedBeforehand } from '../../platform/database/beforehand.js';
import { sha256 } from '../../platform/kernel/canonical-json.js';
import { Clock } from '../../platform/kernel/clock.js';
import { DomainError } from '../../platform/kernel/define-error.js';
import { newId } from '../../platform/kernel/ids.js';
import { cutText } from '../../platform/kernel/text.js';
import { hasUnseen, isBlank, withoutUnseen } from '../../platform/kernel/unseen.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { beginsAsInstruction } from '../capos/index.js';
import { type DirectiveEntity, HandInDirective, titleOf } from '../directives/index.js';
import { NO_COST } from '../terms/index.js';
import { addressesIn, plainWords } from './reply-text.js';
import { type Answered, AskModel, REFUSAL } from './ask-model.js';
import { ChatFacts } from './chat-facts.reader.js';
import { ConversationFull } from './chat.errors.js';
import type { ChatAnswer, ChatBody } from './chat.dto.js';
import type { ConversationEntity } from './chat.entity.js';
import { Conversations } from './conversations.repository.js';
import { type Intent, intentOf } from './intents.js';
import { HELP, plain, questionIn } from './topics.js';

/** A message that hands in work: what of it is the directive, and what is said about it. */

const DIRECTIVE = /^\s*directive\s*:\s*/i;

/** The directive that a message is, as a person sees it; undefined where it does not begin like one. */
function directiveIn(message: string): string | undefined {
  const seen = withoutUnseen(message);
  const text = seen.replace(DIRECTIVE, '').trim();
  if (isBlank(text)) return undefined;
  return DIRECTIVE.test(seen) || beginsAsInstruction(text) ? text : undefined;
}

/** Asks back, with all of the text. */
function askBack(directive: string, message: string): string {
  const left = hasUnseen(message) ? '\nCharacters in it that cannot be seen are left out.' : '';
  return `Shall I hand this in as a directive? Answer "yes". Any other message drops it.\n\n${shown(directive)}${left}`;
}

function createdText({ directiveId, approvalId, text }: DirectiveEntity, isKilled: boolean): string {
  const killed = isKilled ? ' The kill switch is engaged: work on it begins once that is lifted.' : '';
  return `Handed in as ${directiveId}:\n\n${shown(text)}\n\nThe draft waits for approval as ${approvalId}; nothing is sent before.${killed}`;
}

/** What was refused before anything was written. @throws any other error */
function refusedText(directive: string, error: unknown): string {
  if (!(error instanceof DomainError) || error.status >= 500) throw error;
  const [first] = Array.isArray(error.details) ? (error.details as { message?: unknown }[]) : [];
  const why = typeof first?.message === 'string' ? `${first.message}.` : error.message;
  return `${shown(directive)}\n\nThis was not handed in: ${why}`;
}

const shown = (text: string) => `"${plainWords(text, addressesIn(text))}"`;

/** Questions and answers together. */
const MAX_MESSAGES = 1_000;
const MAX_KEPT = 8_000;

const YES = /^(?:yes|yes,? please|yes,? hand it in)$/i;
const NO = /^no(?:,? thanks?(?: you)?)?$/i;
/** What a person does themselves. */
const REFUSED =
  /^(?:dis)?(?:approve|reject|decline|dismiss|activate|pause|engage|lift|revert)\b(?![^]*@)|^pull the (?:kill|switch|plug)|^(?:set|change|switch|put) the (?:guardian|mode)\b/i;

/**
 * Answers a message of a member. The listed questions are answered from the database, with a model and without. A message that
 * begins like a directive is asked back about once, and a "yes" hands it in. Everything else is the model's. What comes of a message
 * is what is read, and one directive with all checks of `POST /directive`; nothing here can approve, or change what decides.
 *
 * The model is asked with no transaction open (platform/database/beforehand.ts). The question, its answer, the directive and
 * the receipt are one transaction then: a process that ends in the middle leaves the conversation as it was.
 */
@Injectable()
export class AnswerMessage {
  constructor(
    private readonly conversations: Conversations,
    private readonly facts: ChatFacts,
    private readonly askModel: AskModel,
    private readonly handInDirective: HandInDirective,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** @throws NotFound for a conversation that is not the caller's; ChatBusy, ConversationFull */
  async execute(caller: Caller, { message, conversationId, teamId, about }: ChatBody): Promise<ChatAnswer> {
    // Locked until the transaction ends: of two messages that say "yes", in whatever process, the second finds the answer to the first.
    const conversation =
      conversationId === undefined ? null : await this.conversations.get(caller, conversationId, true);
    if (conversation && conversation.messages + 2 > MAX_MESSAGES) throw new ConversationFull();
    const known = await this.knownAnswer(caller, conversation, { message, teamId, about });
    if (known) await this.conversations.assertFree(caller, this.clock.now());
    const id = conversation?.conversationId ?? null;
    // All that the model's answer depends on: with a message in between, or other rights, another one is needed.
    const { teamIds } = scopeOf(caller);
    const key = JSON.stringify(['chat', id, conversation?.messages, teamIds, sha256(message), about]);
    const answered =
      known ?? computedBeforehand(key, () => this.askModel.execute(caller, id, message, about));
    return this.keep(caller, conversation, message, answered);
  }

  /** The answer without a model; undefined where that is asked. */
  private async knownAnswer(
    caller: Caller,
    conversation: ConversationEntity | null,
    { message, teamId, about }: ChatBody,
  ): Promise<Answered | undefined> {
    const words = plain(message);
    if (YES.test(words) || NO.test(words)) {
      const proposal = conversation && (await this.proposal(caller, conversation));
      if (!proposal)
        return answer('There is nothing to hand in: I asked nothing before this message.', 'help');
      if (NO.test(words)) return answer('Nothing was handed in.', 'hand_in');
      return this.handIn(caller, proposal.directive, teamId ?? proposal.teamId);
    }
    const question = questionIn(message, about);
    if (question) {
      const [found] = (await this.facts.find(scopeOf(caller), question)).found;
      return answer(found!.text, question.subject, found!.ids);
    }
    if (REFUSED.test(words)) return answer(REFUSAL, 'refused');
    const directive = directiveIn(message);
    if (directive !== undefined) {
      return answer(askBack(directive, message), 'hand_in_asked', teamId === undefined ? [] : [teamId]);
    }
    return this.askModel.isThere ? undefined : answer(HELP, 'help');
  }

  /** Hands it in, with all checks of `POST /directive`; the conversation goes on where that refuses it. */
  private async handIn(caller: Caller, text: string, teamId: string | undefined): Promise<Answered> {
    try {
      const created = await this.handInDirective.execute(caller, { text, ...(teamId && { teamId }) });
      const { isKilled } = await this.facts.find(scopeOf(caller));
      return answer(createdText(created, isKilled), 'hand_in', [created.directiveId], [created.directiveId]);
    } catch (error) {
      return answer(refusedText(text, error), 'hand_in');
    }
  }

  /** The directive that the last answer of the conversation asked back about, as far as the member may still see it. */
  private async proposal(caller: Caller, { conversationId, messages }: ConversationEntity) {
    const last = { before: undefined, limit: 2 };
    const [asked, said] = await this.conversations.messages(caller, conversationId, last);
    const intent = asked?.intents.find((each) => each.intent === 'hand_in_asked');
    if (!intent || asked?.position !== messages || said?.position !== messages - 1) return undefined;
    const directive = directiveIn(said.body);
    return directive === undefined ? undefined : { directive, teamId: intent.ids[0] };
  }

  private keep(
    caller: Caller,
    conversation: ConversationEntity | null,
    message: string,
    { intents, directiveIds, engine, cost, ...answered }: Answered,
  ): ChatAnswer {
    const { workspaceId, memberId } = caller;
    const createdAt = this.clock.now();
    const current = conversation ?? {
      workspaceId,
      conversationId: newId('cnv'),
      memberId,
      title: titleOf(message),
      messages: 0,
      createdAt,
      lastMessageAt: createdAt,
    };
    if (!conversation) this.conversations.add(current);
    const { conversationId, messages } = current;
    const actor = actorOf(caller);
    const receiptId = this.receipts.append({
      actor,
      action: 'chat.answered',
      entity: { type: 'conversation', id: conversationId },
      // Readers of receipts learn that something was asked, but not what. The cost of a model has a receipt of its own.
      summary: `The consigliere answered ${actor.name} in a chat.`,
      details: { engine, directives: directiveIds.length },
    });
    const { teamIds } = scopeOf(caller);
    const seenTeams = teamIds === 'all' ? null : teamIds;
    const both = { workspaceId, conversationId, memberId, seenTeams, receiptId, createdAt };
    const body = cutText(answered.reply, MAX_KEPT);
    const nothing = { intents: [], directiveIds: [], engine: null, cost: null };
    this.conversations.addMessages(current, [
      { ...both, ...nothing, position: messages + 1, author: 'member', body: message },
      { ...both, position: messages + 2, author: 'consigliere', body, intents, directiveIds, engine, cost },
    ]);
    return { conversationId, reply: body, intents, directiveIds };
  }
}

function answer(reply: string, intent: Intent, ids: string[] = [], directiveIds: string[] = []): Answered {
  const engine = { name: 'builtin', model: null };
  return { reply, intents: [intentOf(intent, ids)], directiveIds, engine, cost: NO_COST };
}
