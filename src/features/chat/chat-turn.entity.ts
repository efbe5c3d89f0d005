import { Column, Entity, PrimaryColumn } from 'typeorm';

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
