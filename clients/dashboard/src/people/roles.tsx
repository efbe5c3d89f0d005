import type { BootstrapView } from '@consigliere/sdk';
import { mayAct, type Role } from '../me.js';

/** What each role may do, in a few words. */
const ROLES: Record<Role, string> = {
  viewer: 'viewer: reads',
  operator: 'operator: hands work in, approves, stops',
  admin: 'admin: also people, standing orders, connections',
  owner: 'owner: everything',
};

/** The role in a team, and the one in the workspace of somebody who comes for that team alone. */
export function rolesOf(role: Role, team: string | undefined): string[] {
  return team === undefined
    ? [`${role} of the workspace`]
    : [`${role} of the team ${team}`, 'viewer of the workspace'];
}

/** The roles that this person may give, in a team or in the workspace: only owners make admins and owners there. */
export function rolesToGive(me: BootstrapView, isTeam: boolean): Role[] {
  if (isTeam) return ['viewer', 'operator', 'admin'];
  return mayAct(me, 'owner') ? ['viewer', 'operator', 'admin', 'owner'] : ['viewer', 'operator'];
}

/** Whether this person may change somebody who has the role in the workspace. */
export function mayManage(me: BootstrapView, role: Role): boolean {
  return rolesToGive(me, false).includes(role) && mayAct(me, 'admin');
}

export function RoleOptions({ roles }: { roles: readonly Role[] }) {
  return roles.map((role) => (
    <option key={role} value={role}>
      {ROLES[role]}
    </option>
  ));
}
