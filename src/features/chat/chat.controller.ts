import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { ACTS, Route } from '../../platform/http/route.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { BeforeQuery, PageQuery } from '../../platform/kernel/pages.dto.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { AnswerMessage } from './answer-message.js';
import { ChatFacts } from './chat-facts.reader.js';
import { ChatBusy, ConversationFull } from './chat.errors.js';
import { ChatAnswer, ChatBody, CONVERSATION_PARAM, ConversationPage, ConversationView } from './chat.dto.js';
import { Conversations } from './conversations.repository.js';

@Controller('api/pro/consigliere/chat')
export class ChatController {
  constructor(
    private readonly answerMessage: AnswerMessage,
    private readonly conversations: Conversations,
    private readonly facts: ChatFacts,
  ) {}

  /** Asks the consigliere, or has it hand in a directive. It reads, and never approves or changes anything else. */
  @Post()
  @Route({
    ...ACTS,
    limit: specified('/api/pro/consigliere/chat'),
    returns: { 200: ChatAnswer },
    errors: [NotFound, ChatBusy, ConversationFull],
  })
  send(@CurrentCaller() caller: Caller, @Body() body: ChatBody): Promise<ChatAnswer> {
    return this.answerMessage.execute(caller, body);
  }

  /** The caller's own conversations, the last used first. */
  @Get()
  @Route({
    auth: 'member',
    replica: true,
    limit: specified('/api/pro/consigliere/chat'),
    returns: { 200: ConversationPage },
  })
  list(@CurrentCaller() caller: Caller, @Query() query: PageQuery): Promise<ConversationPage> {
    return this.conversations.list(caller, query);
  }

  /** One of the caller's own conversations with its messages, the newest first. */
  @ApiParam(CONVERSATION_PARAM)
  @Get(':conversationId')
  @Route({ auth: 'member', replica: true, returns: { 200: ConversationView }, errors: [NotFound] })
  async get(
    @CurrentCaller() caller: Caller,
    @Param('conversationId') conversationId: string,
    @Query() { before, limit }: BeforeQuery,
  ): Promise<ConversationView> {
    const found = await this.conversations.get(caller, conversationId);
    const { workspaceId: _workspaceId, memberId: _memberId, ...conversation } = found;
    const items = await this.conversations.messages(caller, conversationId, { before, limit });
    const idsOf = ({ intents, directiveIds }: (typeof items)[number]) => [
      ...intents.flatMap(({ ids }) => ids),
      ...directiveIds,
    ];
    const titles = await this.facts.titles(scopeOf(caller), items.flatMap(idsOf));
    const nextBefore = items.length === limit ? (items.at(-1)?.position ?? null) : null;
    return {
      ...conversation,
      items: items.map((item) => {
        const ids = new Set(idsOf(item));
        return { ...item, sources: titles.filter(({ id }) => ids.has(id)) };
      }),
      nextBefore,
    };
  }
}
