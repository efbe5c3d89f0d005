import { defineError } from '../../platform/kernel/define-error.js';

export const ChatBusy = defineError(
  'CHAT_BUSY',
  409,
  'Your message before this one is still being answered; send this one again afterwards.',
  { retryAfterSeconds: 2 },
);

export const ConversationFull = defineError(
  'CONVERSATION_FULL',
  409,
  'This conversation has as many messages as one may have; begin a new one by leaving out conversationId.',
);
