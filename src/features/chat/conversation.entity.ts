import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Id } from '../../platform/kernel/ids.js';

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
