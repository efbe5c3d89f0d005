import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { computedBeforehand } from '../../platform/database/beforehand.js';
import { sha256 } from '../../platform/kernel/canonical-json.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { cutText } from '../../platform/kernel/text.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { titleOf } from '../directives/directive.js';
import { NO_COST } from '../terms/terms.js';
import { AnswerPlainly } from './answer-plainly.js';
import { type Answered, AskModel } from './ask-model.js';
import { ConversationFull } from './chat.errors.js';
import type { ChatAnswer } from './chat.dto.js';
import type { ConversationEntity } from './conversation.entity.js';
import { Conversations } from './conversations.repository.js';
import { HandInFromChat } from './hand-in-from-chat.js';
import { type ChatIntent, intentOf } from './intents.js';
import { type PlainMessage, readMessage } from './plain-message.js';

export interface NewMessage {
  message: string;
  conversationId?: string;
  /** Of directives that the message hands in. */
  teamId?: string;
}

/** Questions and answers together. */
const MAX_MESSAGES = 1_000;
/** Of a reply with all that is added to it. */
const MAX_KEPT = 8_000;
/** A blank line. */
const BETWEEN = 2;

/**
 * Answers a message of a member: by rules where they understand it, else by a model if there is one. What comes of it is what
 * is read, and directives that are handed in with all checks of `POST /directive`; nothing here can approve, or change what
 * decides.
 *
 * The model is asked with no transaction open (platform/database/beforehand.ts). The question, its answer, the directives and
 * the receipt are one transaction then: a process that ends in the middle leaves the conversation as it was.
 */
@Injectable()
export class AnswerMessage {
  constructor(
    private readonly conversations: Conversations,
    private readonly answerPlainly: AnswerPlainly,
    private readonly askModel: AskModel,
    private readonly handIn: HandInFromChat,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** @throws NotFound for a conversation that is not the caller's; ChatBusy, ConversationFull */
  async execute(caller: Caller, { message, conversationId, teamId }: NewMessage): Promise<ChatAnswer> {
    const conversation =
      conversationId === undefined ? null : await this.conversations.lock(caller, conversationId);
    if (conversation && conversation.messages + 2 > MAX_MESSAGES) throw new ConversationFull();
    const asked = readMessage(message);
    const answered = await this.answered(caller, conversation, message, asked);
    const handedIn = await this.handIn.execute(caller, answered.directives, teamId);
    const refused = answered.refused && asked.refused.length === 0;
    const ours = [
      // The model's words are not relied on: what the chat never does is said in ours.
      ...(this.isModels(answered) && asked.refused.length > 0
        ? [this.answerPlainly.refusal(asked.refused)]
        : []),
      ...(refused ? [this.answerPlainly.refusal(['decide'])] : []),
      ...handedIn.lines,
    ].join('\n\n');
    // What was handed in is shown whole, so what is said besides is cut for it.
    const besides = cutText(answered.reply, Math.max(0, MAX_KEPT - ours.length - BETWEEN));
    const reply = cutText([besides, ours].filter((part) => part !== '').join('\n\n'), MAX_KEPT);
    const intents = [
      ...answered.intents,
      ...(this.isModels(answered) && (asked.refused.length > 0 || answered.refused)
        ? [intentOf('refused')]
        : []),
      ...(handedIn.lines.length > 0 ? [{ intent: 'hand_in' as const, ids: handedIn.directiveIds }] : []),
    ];
    const outcome = { ...answered, reply, intents: joined(intents), directiveIds: handedIn.directiveIds };
    return this.keep(caller, conversation, message, outcome);
  }

  private async answered(
    caller: Caller,
    conversation: ConversationEntity | null,
    message: string,
    asked: PlainMessage,
  ): Promise<Answered> {
    const scope = scopeOf(caller);
    if (asked.isPlain || !this.askModel.isThere) {
      await this.conversations.assertFree(caller, this.clock.now());
      return {
        ...(await this.answerPlainly.execute(scope, asked)),
        directives: asked.requests,
        refused: false,
        engine: { name: 'builtin', model: null },
        cost: NO_COST,
      };
    }
    const id = conversation?.conversationId ?? null;
    // All that the answer depends on: with a message in between, or other rights, another one is needed.
    const key = JSON.stringify(['chat', id, conversation?.messages ?? 0, scope.teamIds, sha256(message)]);
    return computedBeforehand(key, () => this.askModel.execute(caller, id, message));
  }

  private isModels({ engine }: Answered): boolean {
    return engine.model !== null;
  }

  private keep(
    caller: Caller,
    conversation: ConversationEntity | null,
    message: string,
    { reply, intents, directiveIds, engine, cost }: Answered & { directiveIds: string[] },
  ): ChatAnswer {
    const { workspaceId, memberId } = caller;
    const now = this.clock.now();
    const current = conversation ?? this.begin(caller, message, now);
    const { conversationId, messages } = current;
    const actor = actorOf(caller);
    const receiptId = this.receipts.append({
      actor,
      action: 'chat.answered',
      entity: { type: 'conversation', id: conversationId },
      // Whoever reads receipts reads that something was asked, and not what. What a model cost has a receipt of its own.
      summary: `The consigliere answered ${actor.name} in a chat.`,
      details: { engine, directives: directiveIds.length },
    });
    const { teamIds } = scopeOf(caller);
    const both = {
      workspaceId,
      conversationId,
      memberId,
      seenTeams: teamIds === 'all' ? null : teamIds,
      receiptId,
      createdAt: now,
    };
    this.conversations.addMessages(current, [
      {
        ...both,
        position: messages + 1,
        author: 'member',
        body: message,
        intents: [],
        directiveIds: [],
        engine: null,
        cost: null,
      },
      {
        ...both,
        position: messages + 2,
        author: 'consigliere',
        body: reply,
        intents,
        directiveIds,
        engine,
        cost,
      },
    ]);
    return { conversationId, reply, intents, directiveIds };
  }

  private begin({ workspaceId, memberId }: Caller, message: string, now: number): ConversationEntity {
    const conversation: ConversationEntity = {
      workspaceId,
      conversationId: newId('cnv'),
      memberId,
      title: titleOf(message),
      messages: 0,
      createdAt: now,
      lastMessageAt: now,
    };
    this.conversations.add(conversation);
    return conversation;
  }
}

/** Each intent once, with all its ids. */
function joined(intents: readonly ChatIntent[]): ChatIntent[] {
  const byIntent = Map.groupBy(intents, ({ intent }) => intent);
  return [...byIntent].map(([intent, all]) => ({ intent, ids: [...new Set(all.flatMap(({ ids }) => ids))] }));
}
