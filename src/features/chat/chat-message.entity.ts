import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Id } from '../../platform/kernel/ids.js';
import type { Cost } from '../terms/index.js';
import type { ChatIntent } from './intents.js';

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
