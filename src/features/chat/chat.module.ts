import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CaposModule } from '../capos/capos.module.js';
import { DirectivesModule } from '../directives/directives.module.js';
import { AnswerMessage } from './answer-message.js';
import { AnswerPlainly } from './answer-plainly.js';
import { AskModel } from './ask-model.js';
import { ChatController } from './chat.controller.js';
import { ChatFacts } from './chat-facts.reader.js';
import { ChatMessageEntity } from './chat-message.entity.js';
import { ChatTurnEntity } from './chat-turn.entity.js';
import { ConversationEntity } from './conversation.entity.js';
import { Conversations } from './conversations.repository.js';
import { HandInFromChat } from './hand-in-from-chat.js';

/** @level 11 */
@Module({
  imports: [
    TypeOrmModule.forFeature([ConversationEntity, ChatMessageEntity, ChatTurnEntity]),
    CaposModule,
    DirectivesModule,
  ],
  controllers: [ChatController],
  providers: [AnswerMessage, AnswerPlainly, AskModel, ChatFacts, Conversations, HandInFromChat],
})
export class ChatModule {}
