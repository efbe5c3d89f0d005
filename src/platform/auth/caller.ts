import type { Scope } from '../database/unit-of-work.js';
import type { TokenScope } from './token-scopes.js';

/** The four roles, each with all rights of those before it (CONTRACT section 4). */
export const ROLES = ['viewer', 'operator', 'admin', 'owner'] as const;
export type Role = (typeof ROLES)[number];

export type Tier = 'free' | 'pro' | 'enterprise';

export type Via = 'api' | 'dashboard' | 'cli' | 'mcp' | 'link' | 'policy' | 'schedule';

/** Who acted, as it stands in records and receipts (CONTRACT section 1). */
export interface Actor {
  type: 'member' | 'agent' | 'capo' | 'consigliere' | 'system' | 'partner' | 'admin';
  id: string;
  name: string;
  via: Via;
}

/** Who calls, after the token was looked up. */
export interface Caller {
  workspaceId: string;
  workspaceName: string;
  tier: Tier;
  memberId: string;
  userId: string;
  name: string;
  email: string;
  role: Role;
  teamIds: readonly string[];
  /** By team. */
  teamRoles: Readonly<Record<string, Role>>;
  /** The operator token or the session of the admin area that the caller presented. */
  credentialId: string;
  /** The other members who have seen the token, since they made it for this one. */
  tokenMadeBy: readonly string[];
  /** What the token narrows the member's rights to; null: it carries all of them, as sessions do. */
  scopes: readonly TokenScope[] | null;
  /** The agent whose token it is; null: a person's. */
  agent: { name: string } | null;
  /** The tools that the agent may ask for, as patterns (terms/tool-names.ts); null: no agent. */
  tools: readonly string[] | null;
  /** The first token of the chain of rotations that the presented one ends: the same before and after a rotation. Null: no token. */
  tokenRootId: string | null;
  via: Via;
  /** No second factor was shown in this session, though the account has one or the workspace requires one of this member. */
  lacksSecondFactor?: boolean;
}

/** True when `role` has at least the rights of `least`. */
export function hasRole(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least);
}

/**
 * The role that decides about a row of this team, or of none (CONTRACT section 4): the one in the team, for rows
 * without a team the one in the workspace; owner and admin of the workspace keep theirs everywhere.
 */
export function roleIn(caller: Pick<Caller, 'role' | 'teamRoles'>, teamId: string | null): Role {
  if (teamId === null || hasRole(caller.role, 'admin')) return caller.role;
  return Object.hasOwn(caller.teamRoles, teamId) ? caller.teamRoles[teamId]! : 'viewer';
}

/** The highest role that the caller has anywhere; the row then decides. */
export function highestRole({ role, teamRoles }: Pick<Caller, 'role' | 'teamRoles'>): Role {
  const held = [role, ...Object.values(teamRoles)];
  return ROLES.findLast((one) => held.includes(one))!;
}

/** Every member who may be the one that calls: the token's owner, and its maker, who has seen it. */
export function peopleBehind({ memberId, tokenMadeBy }: Pick<Caller, 'memberId' | 'tokenMadeBy'>): string[] {
  return [...new Set([memberId, ...tokenMadeBy])];
}

/** Owner and admin of the workspace see the rows of every team. */
export function seesWholeWorkspace({ role }: Pick<Caller, 'role'>): boolean {
  return hasRole(role, 'admin');
}

/** What row-level security lets the caller see: owner and admin everything, others their teams' rows. */
export function scopeOf(caller: Pick<Caller, 'workspaceId' | 'role' | 'teamIds'>): Scope {
  return { workspaceId: caller.workspaceId, teamIds: seesWholeWorkspace(caller) ? 'all' : caller.teamIds };
}

/** Whether row-level security shows the caller a row of this team, or of none. */
export function mayRead(
  caller: Pick<Caller, 'workspaceId' | 'role' | 'teamIds'>,
  teamId: string | null,
): boolean {
  const { teamIds } = scopeOf(caller);
  if (teamIds === 'all') return true;
  return teamId === null ? teamIds.length === 0 : teamIds.includes(teamId);
}

/** The token whose action requests and questions are all that the caller sees; undefined for one that sees those of others. */
export function onlyOf({ scopes, tokenRootId }: Pick<Caller, 'scopes' | 'tokenRootId'>): string | undefined {
  return scopes !== null && scopes.every((scope) => scope === 'request') ? tokenRootId! : undefined;
}

/** Whether the caller is the member who asked. */
export function isAskedBy({ memberId }: Pick<Caller, 'memberId'>, { type, id }: Actor): boolean {
  return type === 'member' && id === memberId;
}

/** A token of an agent acts as that agent, under one id however often it is rotated. */
export function actorOf(
  caller: Pick<Caller, 'memberId' | 'name' | 'via'> & Partial<Pick<Caller, 'agent' | 'tokenRootId'>>,
): Actor {
  const { agent, tokenRootId, via } = caller;
  if (agent) return { type: 'agent', id: tokenRootId!, name: agent.name, via };
  return { type: 'member', id: caller.memberId, name: caller.name, via };
}

/** The program itself, for what no person did: expiry, recovery, policy. */
export const SYSTEM: Actor = { type: 'system', id: 'system', name: 'Consigliere', via: 'schedule' };
