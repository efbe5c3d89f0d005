import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor, Role } from '../../platform/auth/caller.js';

@Entity('invites')
export class InviteEntity {
  @PrimaryColumn('text')
  inviteId!: string;
  @Column('text')
  workspaceId!: string;
  /** Null: the invite is to the workspace, and to no team. */
  @Column('text', { nullable: true })
  teamId!: string | null;
  @Column('text')
  email!: string;
  /** In the team, or in the workspace without one. */
  @Column('text')
  role!: Role;
  @Column('text')
  status!: 'pending' | 'accepted' | 'withdrawn' | 'expired';
  /** SHA-256 of the token, hex. */
  @Column('text')
  tokenHash!: string;
  /** The token for the mail that is not sent yet, encrypted; null once it is. */
  @Column('text', { nullable: true })
  sealedToken!: string | null;
  /** Counts the tokens: each time it is sent again, the invite has a new one. */
  @Column('int')
  generation!: number;
  @Column('text')
  mailStatus!: 'queued' | 'sent' | 'failed';
  @Column('text', { nullable: true })
  mailError!: string | null;
  /** Acceptances that failed at the password of an account that exists. */
  @Column('int')
  wrongPasswords!: number;
  /** When a mail with its link was written, each time; bounds how many an address gets a day. */
  @Column('timestamptz', { array: true })
  mails!: Date[];
  /** The inviter's name for the person; null: none. */
  @Column('text', { nullable: true })
  inviteeName!: string | null;
  @Column('jsonb')
  invitedBy!: Actor;
  @Column('timestamptz')
  createdAt!: number;
  @Column('timestamptz')
  expiresAt!: number;
}
