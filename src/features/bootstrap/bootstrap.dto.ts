import type { Role, Tier } from '../../platform/auth/caller.js';
import type { AgentStatus } from '../agents/agents.dto.js';
import type { CapoRole, GuardianMode } from '../terms/terms.js';

export class BootstrapWorkspace {
  workspaceId!: string;
  name!: string;
  /** free, pro or enterprise */
  tier!: Tier;
  /** IANA zone name */
  timezone!: string;
  locale!: string;
  /** present or away */
  presence!: string;
}

export class BootstrapOperator {
  memberId!: string;
  userId!: string;
  handle!: string;
  email!: string;
}

export class BootstrapTeam {
  teamId!: string;
  name!: string;
  slug!: string;
  /** The caller's role in the team; null for those who see every team without being in it. */
  role!: string | null;
}

export class BootstrapCapo {
  role!: CapoRole;
  name!: string;
  engine!: string;
  domain!: string[];
  status!: AgentStatus;
}

export class BootstrapGuardian {
  mode!: GuardianMode;
  /** Moves that wait for a person. */
  pending!: number;
  /** Counts kills. */
  epoch!: number;
}

export class BootstrapCounts {
  /** Directives that have not come to an end. */
  directives!: number;
  /** Approvals that are pending. */
  approvals!: number;
  /** Signals that nobody has acknowledged or snoozed. */
  signals!: number;
}

export class BootstrapLimits {
  /** Of the tier, for the whole workspace; null is unlimited. */
  requestsPerMinute!: number | null;
  /** Of the tier, for the whole workspace; null is unlimited. */
  requestsPerDay!: number | null;
}

/** What this installation has been set up for. */
export class BootstrapFeatures {
  /** A model makes the drafts; else the built-in runner does. */
  model!: boolean;
  /** Mail leaves through a server; else it is kept in the outbox folder. */
  mailServer!: boolean;
}

/** What a client needs to begin (`GET /bootstrap`). */
export class BootstrapView {
  workspace!: BootstrapWorkspace;
  operator!: BootstrapOperator;
  /** viewer, operator, admin or owner */
  role!: Role;
  teams!: BootstrapTeam[];
  capos!: BootstrapCapo[];
  guardian!: BootstrapGuardian;
  counts!: BootstrapCounts;
  limits!: BootstrapLimits;
  features!: BootstrapFeatures;
  apiVersions!: string[];
  /** Unix milliseconds. */
  serverTime!: number;
}
