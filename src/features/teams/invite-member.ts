import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, hasRole, scopeOf } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Db } from '../../platform/database/db.js';
import { AlreadyExists, InvalidTransition } from '../../platform/kernel/errors.js';
import { foldedMailAddress } from '../../platform/kernel/mail-address.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { article } from './change-role.js';
import { type Invitee, inviterOf, IssueInvite } from './issue-invite.js';
import {
  type AddToTeamBody,
  type InviteBody,
  MAX_TEAM_MEMBERS,
  type Member,
  Members,
  type TeamView,
  Teams,
  assertMayGrant,
  limitReached,
  roleInTeam,
  seenFrom,
  viewOf,
} from '../workspaces/index.js';
import type { AddedToTeam, InviteView } from './invites.dto.js';

/**
 * Brings somebody in. Owner and admin of the workspace put a member of it into a team at once; anyone else is invited by
 * mail, even one with an account: only they can say that they join. The admin of a team invites members of the workspace
 * too: nobody is pulled into a team by somebody who does not manage them, and the answer tells nothing of who they are.
 */
@Injectable()
export class InviteMember {
  constructor(
    private readonly db: Db,
    private readonly teams: Teams,
    private readonly members: Members,
    private readonly issueInvite: IssueInvite,
    private readonly receipts: Receipts,
  ) {}

  /** @throws NotFound, Forbidden, InvalidTransition for an archived team, AlreadyExists, LimitReached, RateLimited */
  async toTeam(caller: Caller, teamId: string, body: AddToTeamBody): Promise<AddedToTeam> {
    const team = await this.teams.get(caller, teamId);
    requireRole(caller, teamId, 'admin');
    if (team.archivedAt !== null)
      throw new InvalidTransition({ message: 'An archived team takes no members.' });
    if (team.memberCount >= MAX_TEAM_MEMBERS) {
      throw limitReached('members of a team', MAX_TEAM_MEMBERS);
    }
    const email = foldedMailAddress(body.email);
    const member = await this.members.findByEmail(caller.workspaceId, email);
    if (member && roleInTeam(member, teamId))
      throw new AlreadyExists({ message: 'This member is in the team already.' });
    if (member && hasRole(caller.role, 'admin')) return { member: this.add(caller, team, member, body.role) };
    return { invite: await this.issue(caller, team, { ...body, email }) };
  }

  /** @throws Forbidden for a role that the caller may not grant, AlreadyExists for a member, LimitReached, RateLimited */
  async toWorkspace(caller: Caller, body: InviteBody): Promise<InviteView> {
    assertMayGrant(caller, body.role);
    const email = foldedMailAddress(body.email);
    if (await this.members.findByEmail(caller.workspaceId, email)) {
      throw new AlreadyExists({ message: 'This address is that of a member already.' });
    }
    return this.issue(caller, null, { ...body, email });
  }

  private add(caller: Caller, { teamId, name }: TeamView, member: Member, role: AddToTeamBody['role']) {
    const { memberId, displayName } = member;
    this.members.putInTeam({ workspaceId: caller.workspaceId, teamId, memberId, role });
    this.receipts.append({
      actor: actorOf(caller),
      action: 'team.member_added',
      entity: { type: 'member', id: memberId },
      teamId,
      summary: `${caller.name} made ${displayName} ${article(role)} ${role} of the team ${name}.`,
      details: { memberId, role },
    });
    return seenFrom(scopeOf(caller), { ...viewOf(member), teams: [...member.teams, { teamId, role }] });
  }

  /** What is open in the whole workspace is counted, whatever teams the caller may see. */
  private async issue(caller: Caller, team: TeamView | null, invitee: Invitee): Promise<InviteView> {
    await this.db.unit.seeWholeWorkspace();
    return this.issueInvite.execute(inviterOf(caller), team, invitee);
  }
}
