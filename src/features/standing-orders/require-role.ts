import { type Caller, hasRole, type Role, ROLES } from '../../platform/auth/caller.js';
import { Forbidden } from '../../platform/kernel/errors.js';

/** For rights that depend on the order and not on the route alone. @throws Forbidden with the roles that may */
export function requireRole(caller: Caller, least: Role, message: string): void {
  if (hasRole(caller.role, least)) return;
  throw new Forbidden({ message, details: { requiredRoles: ROLES.filter((role) => hasRole(role, least)) } });
}
