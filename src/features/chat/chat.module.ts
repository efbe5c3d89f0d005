import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CaposModule } from '../capos/index.js';
import { DirectivesModule } from '../directives/index.js';
import { AnswerMessage } from './answer-message.js';
import { AskModel } from './ask-model.js';
import { ChatController } from './chat.controller.js';
import { ChatFacts } from './chat-facts.reader.js';
import { ChatMessageEntity, ChatTurnEntity, ConversationEntity } from './chat.entity.js';
import { Conversations } from './conversations.repository.js';

/** @level 11 */
@Module({
  imports: [
    TypeOrmModule.forFeature([ConversationEntity, ChatMessageEntity, ChatTurnEntity]),
    CaposModule,
    DirectivesModule,
  ],
  controllers: [ChatController],
  providers: [AnswerMessage, AskModel, ChatFacts, Conversations],
})
export class ChatModule {}
