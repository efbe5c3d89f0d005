import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Id } from '../../platform/kernel/ids.js';
import type { Cost } from '../terms/index.js';
import type { ChatIntent } from './intents.js';

/** What one member has asked the consigliere, one thing after the other. */
@Entity('conversations')
export class ConversationEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  conversationId!: Id<'cnv'>;
  @Column('text')
  memberId!: string;
  @Column('text')
  title!: string;
  /** How many there have been, which is the position of the last one. */
  @Column('int')
  messages!: number;
  @Column('timestamptz')
  createdAt!: number;
  @Column('timestamptz')
  lastMessageAt!: number;
}

/** A question of a member that a model is being asked about; it ends by itself when its process does. */
@Entity('chat_turns')
export class ChatTurnEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  memberId!: string;
  @Column('text')
  turnId!: string;
  @Column('timestamptz')
  expiresAt!: number;
}

/** What answered: the built-in rules, or a model. */
export interface ChatEngine {
  name: string;
  model: string | null;
}

/** A message of a conversation, as it was written. */
@Entity('chat_messages')
export class ChatMessageEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  conversationId!: Id<'cnv'>;
  @PrimaryColumn('int')
  position!: number;
  @Column('text')
  memberId!: string;
  @Column('text')
  author!: 'member' | 'consigliere';
  @Column('text')
  body!: string;
  /** The teams whose rows the member could see then; null: all. */
  @Column('text', { array: true, nullable: true })
  seenTeams!: readonly string[] | null;
  @Column('jsonb')
  intents!: ChatIntent[];
  @Column('text', { array: true })
  directiveIds!: string[];
  @Column('jsonb', { nullable: true })
  engine!: ChatEngine | null;
  @Column('jsonb', { nullable: true })
  cost!: Cost | null;
  @Column('text')
  receiptId!: string;
  @Column('timestamptz')
  createdAt!: number;
}
