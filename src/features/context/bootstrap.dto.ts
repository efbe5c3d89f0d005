import { ApiProperty, IntersectionType, PickType } from '@nestjs/swagger';
import type { Role, Tier } from '../../platform/auth/caller.js';
import { TOKEN_SCOPES, type TokenScope } from '../../platform/auth/token-scopes.js';
import { TierLimits } from '../../platform/rate-limit/tier-limits.dto.js';
import { AgentView } from '../agents/index.js';
import { GuardianView } from '../guardian/index.js';
import { SubscriptionView } from '../subscription/index.js';
import {
  InstalledPackView,
  ProfileOperator,
  SettingsView,
  TeamView,
  WorkspaceView,
} from '../workspaces/index.js';

export class BootstrapSubscription extends PickType(SubscriptionView, ['status', 'expiresAt']) {}

export class BootstrapWorkspace extends IntersectionType(
  PickType(WorkspaceView, ['workspaceId', 'name']),
  PickType(SettingsView, ['currency', 'timezone', 'locale', 'presence']),
) {
  /** free, pro or enterprise @example 'pro' */
  tier!: Tier;
  /** The licence that the tier comes from. */
  subscription!: BootstrapSubscription;
}

export class BootstrapOperator extends PickType(ProfileOperator, ['memberId', 'handle', 'email']) {
  /** The user behind the membership. @example 'usr_01kerpxzm0m67dx5791yjsqjf1' */
  userId!: string;
}

export class BootstrapTeam extends PickType(TeamView, ['teamId', 'name', 'slug']) {
  /**
   * The caller's role in the team; null for those who see every team without being in it.
   * @example 'operator'
   */
  role!: string | null;
}

export class BootstrapCapo extends PickType(AgentView, ['role', 'status']) {
  /** How a person calls it. @example 'Ops' */
  name!: string;
  /** The engine that it runs. @example 'ops' */
  engine!: string;
  /** Its responsibility. @example ['delivery', 'logistics', 'execution'] */
  domain!: string[];
}

export class BootstrapGuardian extends PickType(GuardianView, ['mode', 'pending', 'epoch']) {}

export class BootstrapCounts {
  /** Directives that have not come to an end. @example 1 */
  directives!: number;
  /** Approvals that are pending. @example 1 */
  approvals!: number;
  /** Signals that nobody has acknowledged or snoozed. @example 2 */
  signals!: number;
  /**
   * Deliveries to webhooks that were given up and not sent again since; null for those who may not send them again.
   * @example 0
   */
  lostDeliveries!: number | null;
}

/** What this installation has been set up for. */
export class BootstrapFeatures {
  /** True when a model makes the drafts, false when the built-in runner does. @example false */
  model!: boolean;
  /** True when mail leaves through a server, false when it is written to files. @example true */
  mailServer!: boolean;
  /** True when licences can be checked, since their issuer is known. @example false */
  licences!: boolean;
  /** True when skill packs can be installed, since whose packs may be is known. @example false */
  skillPacks!: boolean;
  /** True when people can sign in to the admin area through OpenID Connect. @example false */
  oidc!: boolean;
}

/** What a client needs to begin (`GET /bootstrap`). */
export class BootstrapView {
  /** The workspace of the token. */
  workspace!: BootstrapWorkspace;
  /** Who calls. */
  operator!: BootstrapOperator;
  /** The caller's role in the workspace: viewer, operator, admin or owner. @example 'owner' */
  role!: Role;
  /** What the token is limited to; null: it carries all rights of its member. @example null */
  @ApiProperty({ type: [String], enum: TOKEN_SCOPES, isArray: true, nullable: true, example: null })
  scopes!: TokenScope[] | null;
  /** The teams that the caller sees. */
  teams!: BootstrapTeam[];
  /** The five capos. */
  capos!: BootstrapCapo[];
  /** The state of the guardian. */
  guardian!: BootstrapGuardian;
  /** The skill packs that the workspace has, by name. */
  packs!: InstalledPackView[];
  /** What is open. */
  counts!: BootstrapCounts;
  /** The limits of the tier. */
  limits!: TierLimits;
  /** What this installation has been set up for. */
  features!: BootstrapFeatures;
  /** The API versions that the service speaks. @example ['2026-04'] */
  apiVersions!: string[];
  /** The time of the service, Unix milliseconds. @example 1771401690000 */
  serverTime!: number;
}
