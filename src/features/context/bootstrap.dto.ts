import { ApiProperty } from '@nestjs/swagger';
import type { Role, Tier } from '../../platform/auth/caller.js';
import { TOKEN_SCOPES, type TokenScope } from '../../platform/auth/token-scopes.js';
import { TierLimits } from '../../platform/rate-limit/tier-limits.dto.js';
import type { AgentStatus } from '../agents/index.js';
import type { SubscriptionStatus } from '../subscription/index.js';
import type { CapoRole, GuardianMode } from '../terms/index.js';
import { InstalledPackView } from '../workspaces/index.js';

export class BootstrapSubscription {
  /**
   * How the installed licence stands: `active`, in its 14 days of `grace`, or `expired`; `none` when there is none.
   * @example 'active'
   */
  status!: SubscriptionStatus;
  /**
   * When it ends, Unix milliseconds; null when there is none.
   * @example 1827619200000
   */
  expiresAt!: number | null;
}

export class BootstrapWorkspace {
  /**
   * The id of the workspace.
   * @example 'wks_01kerpxzm02h8rz4dtvnsqab5g'
   */
  workspaceId!: string;
  /**
   * The name of the workspace.
   * @example 'Northwind'
   */
  name!: string;
  /**
   * free, pro or enterprise
   * @example 'pro'
   */
  tier!: Tier;
  /** The licence that the tier comes from. */
  subscription!: BootstrapSubscription;
  /**
   * ISO 4217: the currency in which sums are given.
   * @example 'EUR'
   */
  currency!: string;
  /**
   * UTC or an IANA zone name.
   * @example 'Europe/Vienna'
   */
  timezone!: string;
  /**
   * The language, a BCP 47 tag.
   * @example 'en'
   */
  locale!: string;
  /**
   * Whether the operator is `present` or `away`.
   * @example 'present'
   */
  presence!: string;
}

export class BootstrapOperator {
  /**
   * The membership of the caller.
   * @example 'mem_01kerpxzm0g7k7xtwmhd8ah2pd'
   */
  memberId!: string;
  /**
   * The user behind the membership.
   * @example 'usr_01kerpxzm0m67dx5791yjsqjf1'
   */
  userId!: string;
  /**
   * How the caller is called.
   * @example 'Mira Novak'
   */
  handle!: string;
  /**
   * The caller's mail address.
   * @example 'mira@northwind.example'
   */
  email!: string;
}

export class BootstrapTeam {
  /**
   * The id of the team.
   * @example 'team_01kerq74k0wtbyzq0h359nrdxj'
   */
  teamId!: string;
  /**
   * The name of the team.
   * @example 'Sales'
   */
  name!: string;
  /**
   * Its name as part of an address.
   * @example 'sales'
   */
  slug!: string;
  /**
   * The caller's role in the team; null for those who see every team without being in it.
   * @example 'operator'
   */
  role!: string | null;
}

export class BootstrapCapo {
  /**
   * The role of the capo.
   * @example 'capo_ops'
   */
  role!: CapoRole;
  /**
   * How a person calls it.
   * @example 'Ops'
   */
  name!: string;
  /**
   * The engine that it runs.
   * @example 'ops'
   */
  engine!: string;
  /**
   * Its responsibility.
   * @example ['delivery', 'logistics', 'execution']
   */
  domain!: string[];
  /**
   * halted, paused, error, awaiting-approval, active or idle
   * @example 'awaiting-approval'
   */
  status!: AgentStatus;
}

export class BootstrapGuardian {
  /**
   * observe, supervised, guardrailed, autonomous, killed or recovering
   * @example 'guardrailed'
   */
  mode!: GuardianMode;
  /**
   * Approvals that wait for a person.
   * @example 1
   */
  pending!: number;
  /**
   * How many kills there have been.
   * @example 0
   */
  epoch!: number;
}

export class BootstrapCounts {
  /**
   * Directives that have not come to an end.
   * @example 1
   */
  directives!: number;
  /**
   * Approvals that are pending.
   * @example 1
   */
  approvals!: number;
  /**
   * Signals that nobody has acknowledged or snoozed.
   * @example 2
   */
  signals!: number;
}

/** What this installation has been set up for. */
export class BootstrapFeatures {
  /**
   * True when a model makes the drafts, false when the built-in runner does.
   * @example false
   */
  model!: boolean;
  /**
   * True when mail leaves through a server, false when it is written to files.
   * @example true
   */
  mailServer!: boolean;
  /**
   * True when licences can be checked, since their issuer is known.
   * @example false
   */
  licences!: boolean;
  /**
   * True when skill packs can be installed, since whose packs may be is known.
   * @example false
   */
  skillPacks!: boolean;
  /**
   * True when people can sign in to the admin area through OpenID Connect.
   * @example false
   */
  oidc!: boolean;
}

/** What a client needs to begin (`GET /bootstrap`). */
export class BootstrapView {
  /** The workspace of the token. */
  workspace!: BootstrapWorkspace;
  /** Who calls. */
  operator!: BootstrapOperator;
  /**
   * The caller's role in the workspace: viewer, operator, admin or owner.
   * @example 'owner'
   */
  role!: Role;
  /**
   * What the token is limited to; null: it carries all rights of its member.
   * @example null
   */
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
  /**
   * The API versions that the service speaks.
   * @example ['2026-04']
   */
  apiVersions!: string[];
  /**
   * The time of the service, Unix milliseconds.
   * @example 1771401690000
   */
  serverTime!: number;
}
