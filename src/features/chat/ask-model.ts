import { Inject, Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { RunnerFailed } from '../capos/briefing.js';
import { MODEL } from '../capos/capos.module.js';
import { ModelCharges } from '../capos/model-charges.js';
import type { ModelClient } from '../capos/model-client.js';
import { isPaid, type Paid, paidBefore } from '../capos/paid.js';
import { addCost } from '../directives/directive.js';
import { NO_COST } from '../terms/terms.js';
import { ChatFacts } from './chat-facts.reader.js';
import type { ChatEngine } from './chat-message.entity.js';
import { Conversations } from './conversations.repository.js';
import { type ChatIntent, type Intent, idsIn, intentOf } from './intents.js';
import type { Found, LookUp, Subject } from './look-up.js';
import { chatQuestion, type Earlier, MAX_LOOK_UPS, MAX_ROUNDS, type ModelAnswer } from './model-question.js';
import { safeReply } from './reply-text.js';
import type { MemberRequest } from './requests.js';

/** An answer that nothing has been done about yet. */
export interface Answered extends Paid {
  reply: string;
  intents: ChatIntent[];
  /** To be handed in. */
  directives: MemberRequest[];
  refused: boolean;
  engine: ChatEngine;
}

/** How long a member waits for an answer at most, however often the model looks something up. */
const TURN_MS = 50_000;
/** A single question to the model. */
const ROUND_MS = 30_000;
/** What is left after the last question, and what writing the answer may take. */
const AFTER_TURN_MS = 10_000;
const MAX_EARLIER_MESSAGES = 20;
const PLAIN = 'Plain questions are answered without the model, for example "What waits for me?".';

const INTENT_OF: Readonly<Record<Subject, Intent>> = {
  waiting: 'waiting',
  record: 'decision',
  directives: 'directives',
  signals: 'signals',
  revenue: 'revenue',
  cost: 'cost',
  standing_orders: 'standing_orders',
  guardian: 'guardian',
  buyers: 'buyers',
};

/**
 * Has a model answer a message. It can look things up, as the member and nobody else, and name sentences of the message that
 * are to be handed in; there is nothing else that it could ask for. No transaction is open meanwhile. A model that fails makes an
 * answer that says so.
 */
@Injectable()
export class AskModel {
  constructor(
    @Inject(MODEL) private readonly model: ModelClient | null,
    private readonly facts: ChatFacts,
    private readonly conversations: Conversations,
    private readonly db: Db,
    private readonly charges: ModelCharges,
    private readonly clock: Clock,
    private readonly logger: PinoLogger,
  ) {}

  get isThere(): boolean {
    return this.model !== null;
  }

  /** @throws ChatBusy while another question of the member is under way */
  async execute(caller: Caller, conversationId: string | null, message: string): Promise<Answered> {
    const now = this.clock.now();
    const turnId = await this.conversations.beginTurn(caller, now, now + TURN_MS + AFTER_TURN_MS);
    const { provider: name, model } = this.model!.options;
    const paid = { engine: { name, model }, cost: NO_COST };
    try {
      return await this.answer(caller, conversationId, message, paid);
    } finally {
      await this.end(caller, turnId, conversationId, paid).catch((error: unknown) => {
        this.logger.error(
          { err: error, cost: paid.cost },
          'the end of a question could not be written; it ends by itself in a minute, and what it cost has no receipt',
        );
      });
    }
  }

  /** What was paid for is told here and not with the answer: whatever becomes of that, the model has been paid. */
  private async end(
    caller: Caller,
    turnId: string,
    conversationId: string | null,
    paid: Paid,
  ): Promise<void> {
    const { workspaceId, memberId } = caller;
    await this.db.transaction({ workspaceId, teamIds: 'all' }, async () => {
      this.conversations.endTurn(caller, turnId);
      if (!isPaid(paid)) return;
      const actor = actorOf(caller);
      this.charges.receipt(
        {
          actor,
          action: 'chat.model_asked',
          entity: conversationId
            ? { type: 'conversation', id: conversationId }
            : { type: 'member', id: memberId },
          summary: `A model was asked for ${actor.name} in a chat.`,
        },
        paid,
      );
    });
  }

  /** @param paid grows with each round */
  private async answer(
    caller: Caller,
    conversationId: string | null,
    message: string,
    paid: Paid & { engine: ChatEngine },
  ): Promise<Answered> {
    const client = this.model!;
    const scope = scopeOf(caller);
    const { engine } = paid;
    const until = performance.now() + TURN_MS;
    const [history, timezone] = await Promise.all([
      this.history(caller, conversationId),
      this.facts.timezone(scope),
    ]);
    const named = idsIn(message).slice(0, MAX_LOOK_UPS);
    const found: Found[] = [];
    for (const id of named) found.push(await this.facts.find(scope, { subject: 'record', id }));
    try {
      for (let round = 1; ; round++) {
        const left = until - performance.now();
        const isLast = round >= MAX_ROUNDS || left < ROUND_MS;
        const question = chatQuestion({
          workspaceId: caller.workspaceId,
          workspaceName: caller.workspaceName,
          timezone,
          now: this.clock.now(),
          message,
          history,
          found,
          isLast,
          timeoutMs: Math.max(1_000, Math.min(ROUND_MS, Math.round(left))),
        });
        const asked = await client.ask(question, { signal: new AbortController().signal });
        paid.cost = addCost(paid.cost, asked.cost);
        if (asked.answer.lookUps.length === 0) return answered(asked.answer, { message, found, paid });
        for (const lookUp of newOnes(asked.answer.lookUps, found)) {
          found.push(await this.facts.find(scope, lookUp));
        }
      }
    } catch (error) {
      paid.cost = addCost(paid.cost, paidBefore(error).cost);
      if (!(error instanceof RunnerFailed)) throw error;
      return {
        reply: safeReply(`I could not answer this: ${error.message} ${PLAIN}`, message),
        intents: [intentOf('not_answered')],
        directives: [],
        refused: false,
        engine,
        cost: paid.cost,
      };
    }
  }

  /** What was said before, as far as the member may still see it; the oldest first. */
  private async history(caller: Caller, conversationId: string | null): Promise<Earlier[]> {
    if (conversationId === null) return [];
    const messages = await this.conversations.messages(caller, conversationId, {
      before: undefined,
      limit: MAX_EARLIER_MESSAGES,
    });
    return messages.map(({ author, body }) => ({ from: author, text: body })).toReversed();
  }
}

/** What has been looked up already is not looked up again. */
function newOnes(lookUps: readonly LookUp[], found: readonly Found[]): LookUp[] {
  const known = new Set(found.map(keyOf));
  return lookUps.filter((lookUp) => {
    const key = keyOf(lookUp);
    const isNew = !known.has(key);
    known.add(key);
    return isNew;
  });
}

const keyOf = ({ subject, id }: LookUp) => (subject === 'record' ? `record ${id}` : subject);

function answered(
  { reply, directives, refused }: ModelAnswer,
  { message, found, paid }: { message: string; found: readonly Found[]; paid: Paid & { engine: ChatEngine } },
): Answered {
  const named = new Set(idsIn(reply));
  const intents = found.map(({ subject, facts }) => {
    const { intent, ids } = intentOf(INTENT_OF[subject], facts);
    return { intent, ids: ids.filter((id) => named.has(id)) };
  });
  return { reply: safeReply(reply, message), intents, directives, refused, ...paid };
}
