import { type Consigliere, PermissionDeniedError } from '@consigliere/sdk';

const ROLES = ['viewer', 'operator', 'admin', 'owner'] as const;
type Role = (typeof ROLES)[number];

/** What a token may do: the highest role that its member has anywhere, and what limits it; null: nothing does. */
export interface Access {
  role: Role;
  scopes: readonly string[] | null;
}

/** What a tool needs, as its route says it. The service decides at each call; this decides what is listed. */
export interface Needs {
  role: Role;
  /** The scopes of which a limited token needs one. */
  scopes: readonly string[];
}

export const READ: Needs = { role: 'viewer', scopes: ['read', 'operate', 'decide', 'admin'] };
export const OPERATE: Needs = { role: 'operator', scopes: ['operate', 'admin'] };
export const DECIDE: Needs = { role: 'operator', scopes: ['decide'] };
export const ASK: Needs = { role: 'operator', scopes: ['request', 'operate', 'admin'] };

export function mayUse(needs: Needs, { role, scopes }: Access): boolean {
  const hasScope = scopes === null || scopes.some((scope) => needs.scopes.includes(scope));
  return hasScope && ROLES.indexOf(role) >= ROLES.indexOf(needs.role);
}

/** Asks the service who the token belongs to. A token that may only ask cannot read even that. */
export async function readAccess(client: Consigliere): Promise<Access> {
  try {
    const { role, teams, scopes } = await client.bootstrap.get();
    const held = [role, ...teams.map((team) => team.role)];
    return { role: ROLES.findLast((one) => held.includes(one)) ?? 'viewer', scopes };
  } catch (error) {
    if (error instanceof PermissionDeniedError) return { role: 'operator', scopes: ['request'] };
    throw error;
  }
}
