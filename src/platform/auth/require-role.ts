import { Forbidden } from '../kernel/errors.js';
import { type Caller, hasRole, type Role, roleIn, ROLES } from './caller.js';
import { assertScope, type TokenScope } from './token-scopes.js';

/**
 * For rights that depend on the row and not on the route alone: the caller's role in the row's team, or in the
 * workspace for a row without one. What takes an admin or owner takes the scope `admin` of a limited token too, unless
 * the act has a scope of its own.
 * @throws Forbidden with the roles that may
 */
export function requireRole(
  caller: Caller,
  teamId: string | null,
  least: Role,
  message?: string,
  scope: TokenScope = 'admin',
): void {
  if (hasRole(least, 'admin')) assertScope(caller, [scope]);
  if (hasRole(roleIn(caller, teamId), least)) return;
  const requiredRoles = ROLES.filter((role) => hasRole(role, least));
  throw new Forbidden({ ...(message !== undefined && { message }), details: { requiredRoles } });
}
