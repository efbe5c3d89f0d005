import type { ChatMessageEntity } from './chat-message.entity.js';
import type { ConversationView } from './chat.dto.js';
import type { ConversationEntity } from './conversation.entity.js';

export function conversationView(
  { workspaceId: _workspaceId, memberId: _memberId, ...conversation }: ConversationEntity,
  messages: readonly ChatMessageEntity[],
  limit: number,
): ConversationView {
  return {
    ...conversation,
    items: messages.map(({ position, author, body, intents, directiveIds, engine, cost, createdAt }) => ({
      position,
      author,
      body,
      intents,
      directiveIds,
      engine,
      cost,
      createdAt,
    })),
    nextBefore: messages.length === limit ? (messages.at(-1)?.position ?? null) : null,
  };
}
