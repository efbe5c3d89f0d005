/**
 * Who may do what, as CONTRACT section 4 says it; nothing here is taken from the program, so that the two are held
 * against each other.
 */
const ROLES = ['viewer', 'operator', 'admin', 'owner'] as const;
export type Role = (typeof ROLES)[number];

const TEAM_ROLES = ['none', 'viewer', 'operator', 'admin'] as const;
type TeamRole = (typeof TEAM_ROLES)[number];

/** A member by what decides: the role in the workspace, and the one in their team. */
export interface Membership {
  role: Role;
  teamRole: TeamRole;
}

export const MEMBERSHIPS: readonly Membership[] = ROLES.flatMap((role) =>
  TEAM_ROLES.map((teamRole) => ({ role, teamRole })),
);

export const nameOf = ({ role, teamRole }: Membership) =>
  `${role} of the workspace, ${teamRole === 'none' ? 'in no team' : `${teamRole} of the team`}`;

/** Whose the row is that a request is about, seen from the caller. */
export type Place =
  | 'own team'
  | 'other team'
  | 'no team'
  /** What has no team at all, as tokens and settings. */
  | 'the workspace'
  /** A new record whose team the request leaves out. */
  | 'by default'
  | 'other workspace';

export interface Right {
  /** The least role that may. */
  least: Role;
  /**
   * `row`: the role in the row's team, or in the workspace for a row without one. `workspace`: the role there alone. `any`: the
   * highest of both. `everyone`: what holds for all teams at once, which a member of a team does as an admin of the
   * workspace only.
   */
  by: 'row' | 'workspace' | 'any' | 'everyone';
  /** The least role that may do such a thing to some row, where this one asks for more. */
  admits?: Role;
}

export const ofRow = (least: Role, admits?: Role): Right => ({ by: 'row', least, ...(admits && { admits }) });
export const ofWorkspace = (least: Role, admits?: Role): Right => ({
  by: 'workspace',
  least,
  ...(admits && { admits }),
});
export const ofAny = (least: Role): Right => ({ by: 'any', least });
export const ofEveryone = (least: Role): Right => ({ by: 'everyone', least });

export type Expected = 'may' | 403 | 404;

const RANK = { none: 0, viewer: 1, operator: 2, admin: 3, owner: 4 };
const reaches = (held: Role | TeamRole, least: Role) => RANK[held] >= RANK[least];
const higher = (a: Role, b: TeamRole) => (RANK[b] > RANK[a] ? (b as Role) : a);

/** Whether this one holds at least what the other holds, in the workspace and in the team. */
export const covers = (one: Membership, other: Membership) =>
  reaches(one.role, other.role) && RANK[one.teamRole] >= RANK[other.teamRole];

/** Owner and admin of the workspace keep their role everywhere. */
const isEverywhere = ({ role }: Membership) => reaches(role, 'admin');

/** Owner and admin see all. Others see their teams' rows; members of no team see the rows without one. */
export function sees(member: Membership, place: Place): boolean {
  if (place === 'other workspace') return false;
  if (isEverywhere(member) || place === 'the workspace' || place === 'by default') return true;
  if (place === 'other team') return false;
  return (place === 'own team') === (member.teamRole !== 'none');
}

/**
 * Whoever may do such a thing to no row at all is told so whatever row it is; else a row that one may not see is not
 * there; else the role decides.
 */
export function expectedOf(member: Membership, place: Place, right: Right): Expected {
  const held = right.by === 'workspace' ? member.role : higher(member.role, member.teamRole);
  if (!reaches(held, right.admits ?? right.least)) return 403;
  if (!sees(member, place)) return 404;
  return reaches(deciding(member, place, right), right.least) ? 'may' : 403;
}

function deciding(member: Membership, place: Place, { by }: Right): Role | TeamRole {
  const { role, teamRole } = member;
  if (isEverywhere(member) || by === 'workspace') return role;
  if (by === 'any') return higher(role, teamRole);
  const isInTeam = teamRole !== 'none';
  if (by === 'everyone' && isInTeam) return 'none';
  // What leaves its team out is for the caller's only team.
  return place === 'own team' || (place === 'by default' && isInTeam) ? teamRole : role;
}
