import { ApiPropertyOptional, PickType } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { type Caller, hasRole, type Role, ROLES } from '../../platform/auth/caller.js';
import { Forbidden } from '../../platform/kernel/errors.js';
import { IsMailAddress } from '../../platform/kernel/mail-address.js';
import { IsOmittable } from '../../platform/kernel/decorators.js';
import { PageFacts, PageQuery } from '../../platform/kernel/pages.dto.js';
import { IsVisibleName } from '../../platform/kernel/visible-name.js';
import { IsNoneOfOurs } from './reserved-names.js';

/** A role in a team; an owner there is only of the workspace. */
const TEAM_ROLES = ['viewer', 'operator', 'admin'] as const;
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

/** The parameter of the paths, as it is documented. */
export const MEMBER_PARAM = {
  name: 'uid',
  description: "The member's id, or the id of the user.",
  example: 'mem_01kerpxzm0g7k7xtwmhd8ah2pd',
};

const MAX_NAME = 80;

class Invitee {
  /**
   * What the invite calls them, one line of 1 to 80 characters; they may choose another name when they accept. A member keeps their
   * own.
   * @example 'Mira Lind'
   */
  @IsOmittable()
  @IsVisibleName(MAX_NAME)
  @IsNoneOfOurs('member')
  name?: string;
}

/** Body of `POST /teams/{id}/members`. */
export class AddToTeamBody extends Invitee {
  /**
   * Owner and admin of the workspace have a member of it in the team at once; anyone else is invited by mail.
   * @example 'mira@northwind.example'
   */
  @IsMailAddress()
  email!: string;

  /** The role in the team: viewer, operator or admin. @example 'operator' */
  @IsIn(TEAM_ROLES)
  role!: TeamRole;
}

/** Body of `POST /members`. */
export class InviteBody extends Invitee {
  /** Who is invited. @example 'mira@northwind.example' */
  @IsMailAddress()
  email!: string;

  /** The role in the workspace: viewer, operator, admin or owner. @example 'operator' */
  @IsIn(ROLES)
  role!: Role;
}

/** Body of `PATCH /teams/{id}/members/{uid}`. */
export class TeamRoleBody extends PickType(AddToTeamBody, ['role']) {}

/** Body of `PATCH /members/{uid}`. */
export class RoleBody extends PickType(InviteBody, ['role']) {}

export class MembersQuery extends PageQuery {
  /** Members, or those who were removed. @example 'active' */
  @ApiPropertyOptional()
  @IsOptional()
  @IsIn(['active', 'removed'])
  status: 'active' | 'removed' = 'active';
}

class TeamOfMember {
  /** The id of the team. @example 'team_01kerpy4n2v5d9q8c1m7xw3zta' */
  teamId!: string;
  /** The role in it: viewer, operator or admin. @example 'operator' */
  role!: TeamRole;
}

export class MemberView {
  /** The id of the membership. @example 'mem_01kerpxzm0g7k7xtwmhd8ah2pd' */
  memberId!: string;
  /** The id of the user. @example 'usr_01kerpxzm0g7k7xtwmhd8ah2pc' */
  userId!: string;
  /** The mail address. @example 'mira@northwind.example' */
  email!: string;
  /** The name that others see. @example 'Mira Novak' */
  displayName!: string;
  /** The role in the workspace: viewer, operator, admin or owner. @example 'viewer' */
  role!: Role;
  /** The member's teams, as far as the caller may see them. */
  teams!: TeamOfMember[];
  /** Whether the member belongs to the workspace: active or removed. @example 'active' */
  status!: 'active' | 'removed';
  /** When the member joined, Unix milliseconds. @example 1768209000000 */
  joinedAt!: number;
  /** When the member last called, Unix milliseconds, to the minute; null: never. */
  lastSeenAt!: number | null;
}

/** A member who was removed, with what ended besides the membership. */
export class RemovedMember extends MemberView {
  /** How many tokens were revoked: the member's own, and those that they made or rotated for others. @example 2 */
  revokedTokens!: number;
  /** How many invites were withdrawn: those to the member's address, and those that the member sent. @example 1 */
  withdrawnInvites!: number;
}

export class MemberPage extends PageFacts {
  /** The members of this page. */
  items!: MemberView[];
}
