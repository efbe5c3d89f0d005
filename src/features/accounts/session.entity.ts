import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How somebody signed in. */
export type SignInMethod = 'password' | 'oidc';

/** A member who is signed in to the admin area, in one workspace. */
@Entity('sessions')
export class SessionEntity {
  @PrimaryColumn('text')
  sessionId!: string;
  @Column('text')
  workspaceId!: string;
  @Column('text')
  memberId!: string;
  @Column('text')
  userId!: string;
  /** SHA-256 of the cookie's value, hex; the value itself is nowhere. */
  @Column('text')
  secretHash!: string;
  @Column('text')
  method!: SignInMethod;
  /** Whether a second factor was shown. */
  @Column('boolean')
  secondFactor!: boolean;
  /** What the browser says that it is; up to 300 characters. */
  @Column('text', { nullable: true })
  userAgent!: string | null;
  @Column('text')
  address!: string;
  @Column('timestamptz')
  createdAt!: number;
  /** The last request, known to five seconds. */
  @Column('timestamptz')
  lastSeenAt!: number;
  /** The end that no request puts off. */
  @Column('timestamptz')
  expiresAt!: number;
  @Column('timestamptz', { nullable: true })
  endedAt!: number | null;
}
