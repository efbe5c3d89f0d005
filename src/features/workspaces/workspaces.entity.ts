import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor, Role, Tier } from '../../platform/auth/caller.js';
import type { TokenScope } from '../../platform/auth/token-scopes.js';
import type { NotificationsView } from './notifications.dto.js';

/** What a member's client has called itself. */
@Entity('devices')
export class DeviceEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  memberId!: string;
  @PrimaryColumn('text')
  deviceId!: string;
  @Column('timestamptz')
  firstSeenAt!: number;
  @Column('timestamptz')
  lastSeenAt!: number;
}

/** Who must have a second factor: nobody, owners and admins, or everyone. */
export type SecondFactorSetting = 'optional' | 'required' | 'everyone';

@Entity('workspaces')
export class WorkspaceEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @Column('text')
  name!: string;
  @Column('text')
  tier!: Tier;
  @Column('text')
  timezone!: string;
  @Column('text')
  locale!: string;
  /** ISO 4217: the currency in which sums are given. */
  @Column('text')
  currency!: string;
  @Column('text')
  presence!: 'present' | 'away';
  @Column('jsonb', { nullable: true })
  quietHours!: { from: string; to: string } | null;
  /** What members are told of by mail; what is not named has its default. */
  @Column('jsonb')
  notifications!: Partial<NotificationsView>;
  /** What model calls may use a day; null: what the tier has. */
  @Column('jsonb', { nullable: true })
  modelBudget!: { amount?: number | null; currency?: 'USD'; tokens?: number | null } | null;
  /** Days by subject (docs/retention.md); what is not named has its default. */
  @Column('jsonb')
  retention!: Record<string, number>;
  /** Who signs the mails; null: the author of the directive. */
  @Column('text', { nullable: true })
  senderName!: string | null;
  @Column('text', { nullable: true })
  senderSignature!: string | null;
  @Column('text', { nullable: true })
  senderReplyTo!: string | null;
  /** Who must have one to use the admin area. */
  @Column('text')
  secondFactor!: SecondFactorSetting;
  /** Made by the first start of the service; its owners make the others. */
  @Column('boolean')
  isFirst!: boolean;
  @Column('timestamptz')
  createdAt!: number;
}

@Entity('users')
export class UserEntity {
  @PrimaryColumn('text')
  userId!: string;
  @Column('text')
  email!: string;
  @Column('text')
  displayName!: string;
  @Column('text', { nullable: true, select: false })
  passwordHash!: string | null;
  @Column('timestamptz')
  createdAt!: number;
}

@Entity('members')
export class MemberEntity {
  @PrimaryColumn('text')
  memberId!: string;
  @Column('text')
  workspaceId!: string;
  @Column('text')
  userId!: string;
  @Column('text')
  role!: Role;
  @Column('text')
  status!: 'active' | 'removed';
  /** Invited to teams alone: the membership ends with that in the last of them. */
  @Column('boolean')
  teamOnly!: boolean;
  @Column('timestamptz')
  joinedAt!: number;
  @Column('timestamptz', { nullable: true })
  lastSeenAt!: number | null;
  /** When the account opened this workspace last; null: it has only been invited. */
  @Column('timestamptz', { nullable: true, select: false })
  openedAt!: number | null;
}

@Entity('teams')
export class TeamEntity {
  @PrimaryColumn('text')
  teamId!: string;
  @Column('text')
  workspaceId!: string;
  @Column('text')
  name!: string;
  /** The name as it is compared: NFKC, without upper case. */
  @Column('text')
  nameKey!: string;
  @Column('text')
  slug!: string;
  @Column('timestamptz')
  createdAt!: number;
  @Column('timestamptz', { nullable: true })
  archivedAt!: number | null;
}

@Entity('team_members')
export class TeamMemberEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  teamId!: string;
  @PrimaryColumn('text')
  memberId!: string;
  @Column('text')
  role!: Exclude<Role, 'owner'>;
}

@Entity('tokens')
export class TokenEntity {
  @PrimaryColumn('text')
  tokenId!: string;
  @Column('text')
  workspaceId!: string;
  @Column('text')
  memberId!: string;
  @Column('text')
  name!: string;
  /** SHA-256 of the token, hex; the token itself is nowhere. */
  @Column('text')
  tokenHash!: string;
  /** The last four characters, to tell tokens apart. */
  @Column('text')
  hint!: string;
  /** The other members who made it for this one, and so have seen it. */
  @Column('text', { array: true })
  madeBy!: string[];
  /** What it narrows its member's rights to; null: all of them. */
  @Column('text', { array: true, nullable: true })
  scopes!: TokenScope[] | null;
  /** The agent whose token it is; null: a person's. */
  @Column('text', { nullable: true })
  agentName!: string | null;
  /** As the name is compared: no two agents of a workspace have the same. */
  @Column('text', { nullable: true })
  agentNameKey!: string | null;
  /** What the agent may ask for. */
  @Column('text', { array: true, nullable: true })
  tools!: string[] | null;
  /** The first token of its chain of rotations; null: itself. */
  @Column('text', { nullable: true })
  rootId!: string | null;
  /** The token that it replaced; null: none. */
  @Column('text', { nullable: true })
  rotatedFrom!: string | null;
  @Column('timestamptz', { nullable: true })
  pausedAt!: number | null;
  @Column('jsonb', { nullable: true })
  pausedBy!: Actor | null;
  /** The session that made it for the dashboard, and with which it ends; null: it stands alone. */
  @Column('text', { nullable: true })
  sessionId!: string | null;
  @Column('timestamptz')
  createdAt!: number;
  @Column('timestamptz', { nullable: true })
  lastUsedAt!: number | null;
  @Column('timestamptz', { nullable: true })
  expiresAt!: number | null;
  @Column('timestamptz', { nullable: true })
  revokedAt!: number | null;
}
