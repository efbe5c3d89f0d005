import { Forbidden } from '../kernel/errors.js';
import { type Caller, hasRole, type Role, roleIn, ROLES } from './caller.js';

/**
 * For rights that depend on the row and not on the route alone: the caller's role in the row's team, or in the
 * workspace for a row without one.
 * @throws Forbidden with the roles that may
 */
export function requireRole(caller: Caller, teamId: string | null, least: Role, message?: string): void {
  if (hasRole(roleIn(caller, teamId), least)) return;
  const requiredRoles = ROLES.filter((role) => hasRole(role, least));
  throw new Forbidden({ ...(message !== undefined && { message }), details: { requiredRoles } });
}
