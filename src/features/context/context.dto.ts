import { ApiProperty, IntersectionType, PickType } from '@nestjs/swagger';
import { IsOptional, IsString, Matches } from 'class-validator';
import type { Role, Tier } from '../../platform/auth/caller.js';
import { TOKEN_SCOPES, type TokenScope } from '../../platform/auth/token-scopes.js';
import { MaxLength } from '../../platform/kernel/text-length.js';
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
import { SignalView } from '../records/index.js';
import { StandingOrderSummary } from '../standing-orders/index.js';
import { WorkPacketSummary } from '../directives/index.js';
import { ChainHead, ReceiptItem } from '../audit/index.js';
import { BuyerContextView, PartnerPersona } from '../partner/index.js';

class BootstrapSubscription extends PickType(SubscriptionView, ['status', 'expiresAt']) {}

class BootstrapWorkspace extends IntersectionType(
  PickType(WorkspaceView, ['workspaceId', 'name']),
  PickType(SettingsView, ['currency', 'timezone', 'locale', 'presence']),
) {
  /** free, pro or enterprise @example 'pro' */
  tier!: Tier;
  /** The licence that the tier comes from. */
  subscription!: BootstrapSubscription;
}

class BootstrapOperator extends PickType(ProfileOperator, ['memberId', 'handle', 'email']) {
  /** The user behind the membership. @example 'usr_01kerpxzm0m67dx5791yjsqjf1' */
  userId!: string;
}

class BootstrapTeam extends PickType(TeamView, ['teamId', 'name', 'slug']) {
  /**
   * The caller's role in the team; null for those who see every team without being in it.
   * @example 'operator'
   */
  role!: string | null;
}

class BootstrapCapo extends PickType(AgentView, ['role', 'status']) {
  /** How a person calls it. @example 'Ops' */
  name!: string;
  /** The engine that it runs. @example 'ops' */
  engine!: string;
  /** Its responsibility. @example ['delivery', 'logistics', 'execution'] */
  domain!: string[];
}

class BootstrapGuardian extends PickType(GuardianView, ['mode', 'pending', 'epoch']) {}

class BootstrapCounts {
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
class BootstrapFeatures {
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

class ContextOperator extends PickType(ProfileOperator, ['handle', 'tier']) {}

class ContextMetrics {
  /**
   * Revenue of the last 24 hours, in the currency of the workspace alone; `GET /metrics` has the others.
   * @example 600.5
   */
  revenue24h!: number;
  /** Signals that carry a score. @example 2 */
  signalsScored!: number;
}

class ContextGuardian extends PickType(GuardianView, ['mode', 'pending']) {}

class ContextReceiptHead extends PickType(ChainHead, ['seq', 'hash']) {}

/** The whole operational context (SPECIFICATION, Context). */
export class ContextView {
  /** When this was put together, ISO 8601. @example '2026-02-18T08:01:30.000Z' */
  generatedAt!: string;
  /** The session of the caller. @example 'tok_01kerqg9j0k7zrqfjnrxthcm4w' */
  sessionId!: string;
  /** Who calls. */
  operator!: ContextOperator;
  /** The newest 50 signals that the caller may see. */
  signals!: SignalView[];
  /** The newest 50 work packets that the caller may see. */
  workPackets!: WorkPacketSummary[];
  /** The newest 50 active standing orders that the caller may see. */
  standingOrders!: StandingOrderSummary[];
  /** Two figures of the workspace. */
  metrics!: ContextMetrics;
  /** The newest 50 receipts that the caller may see. */
  auditFeed!: ReceiptItem[];
  /** The state of the guardian. */
  guardian!: ContextGuardian;
  /** Who the buyers are. */
  buyerContext!: BuyerContextView;
  /** What the partner persona service has reported. */
  partner!: PartnerPersona;
  /** The end of the receipt chain. */
  receiptHead!: ContextReceiptHead;
}

/** Body of `POST /api/local/hydrate`. */
export class HydrateBody {
  /**
   * What the client calls itself: the same at each call, and another on each device.
   * @example 'mira-laptop'
   */
  @Matches(/^[\x21-\x7e]{1,64}$/, { message: '$property must be 1 to 64 visible ASCII characters' })
  deviceId!: string;

  /** The `cursor` of the answer before; left out at the first call. @example 'v1.pQ2xS0o3.Yk9fT1dB' */
  @IsOptional()
  @IsString()
  @MaxLength(1_000)
  since?: string;
}

/** What a client that works offline keeps, and what it missed. */
export class Hydration {
  /** What `GET /bootstrap` answers. */
  bootstrap!: BootstrapView;
  /** What `GET /context` answers. */
  context!: ContextView;
  /**
   * The receipts since the cursor that the caller may see, oldest first: each once, and none left out. At the first call
   * the last 100.
   */
  receipts!: ReceiptItem[];
  /** What to send as `since` next time. @example 'v1.pQ2xS0o3.Yk9fT1dB' */
  cursor!: string;
  /** True when there are more receipts than one answer holds: call again with the cursor. @example false */
  more!: boolean;
  /**
   * True when these receipts do not follow on those of the cursor, since the caller sees other teams by now, or the
   * service was restored from a backup: forget what you have and keep this.
   * @example false
   */
  reset!: boolean;
}
