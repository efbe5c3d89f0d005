import { type Caller, hasRole, type Role, ROLES } from '../../platform/auth/caller.js';
import { Forbidden } from '../../platform/kernel/errors.js';

/** A role in a team; an owner there is only of the workspace. */
export const TEAM_ROLES = ['viewer', 'operator', 'admin'] as const;
export type TeamRole = (typeof TEAM_ROLES)[number];

/** The least role in the workspace that grants this one, or takes it away (CONTRACT section 4). */
function leastToGrant(role: Role): Role {
  return hasRole(role, 'admin') ? 'owner' : 'admin';
}

/** Whether a member with this role in the workspace may give another such a role there. */
export function mayGrant(granter: Role, role: Role): boolean {
  return hasRole(granter, leastToGrant(role));
}

/** @throws Forbidden unless the caller may make members of these roles, and may change those who have them */
export function assertMayGrant({ role }: Pick<Caller, 'role'>, ...roles: Role[]): void {
  const beyond = roles.find((one) => !mayGrant(role, one));
  if (beyond === undefined) return;
  const requiredRoles = ROLES.filter((one) => mayGrant(one, beyond));
  throw new Forbidden({
    message: `Only ${requiredRoles.length === 1 ? 'an owner' : 'an owner or an admin'} may grant the role ${beyond} or change a member who has it.`,
    details: { requiredRoles },
  });
}

/** Active members of a workspace. They are counted when somebody is invited, and again when the invite is accepted. */
export const MAX_MEMBERS = 5_000;
/** Members of a team, counted likewise. */
export const MAX_TEAM_MEMBERS = 500;
