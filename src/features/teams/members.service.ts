import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, type Role, hasRole, scopeOf } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { AlreadyExists, InvalidTransition } from '../../platform/kernel/errors.js';
import { foldedMailAddress } from '../../platform/kernel/mail-address.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import {
  type MemberView,
  Members,
  TokensStopped,
  assertMayGrant,
  viewOf,
  type RemovedMember,
  type AddToTeamBody,
  type InviteBody,
  MAX_TEAM_MEMBERS,
  type Member,
  type TeamView,
  Teams,
  limitReached,
  roleInTeam,
  seenFrom,
} from '../workspaces/index.js';
import { LastOwner } from './teams.errors.js';
import { type Invitee, inviterOf, IssueInvite, WithdrawInvites } from './invites.service.js';
import type { AddedToTeam, InviteView } from './invites.dto.js';

/** Changes a member's role in the workspace; who was there for teams alone belongs to the workspace from then on. */
@Injectable()
export class ChangeRole {
  constructor(
    private readonly members: Members,
    private readonly withdrawInvites: WithdrawInvites,
    private readonly tokensStopped: TokensStopped,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** The role that the member has already changes nothing. @throws NotFound, Forbidden, LastOwner */
  async execute(caller: Caller, uid: string, role: Role): Promise<MemberView> {
    const { workspaceId } = caller;
    const member = await this.members.get(workspaceId, uid);
    assertMayGrant(caller, role, member.role);
    if (member.role === role && !member.teamOnly) return viewOf(member);
    const losesOwner = member.role === 'owner' && role !== 'owner';
    if (losesOwner && (await this.members.count(workspaceId)).owners === 1) throw new LastOwner();
    const now = this.clock.now();
    const revoked = await this.members.revokeSeenFromBelow(workspaceId, member.memberId, role, now);
    // Approvals are locked before a change of members enqueues the checks of their approvers.
    await this.tokensStopped.withdraw(workspaceId, revoked, actorOf(caller));
    this.members.change(workspaceId, member.memberId, { role, teamOnly: false });
    await this.withdrawInvites.beyond(caller, { ...member, role });
    this.receipts.append({
      actor: actorOf(caller),
      action: 'member.role_changed',
      entity: { type: 'member', id: member.memberId },
      summary: `${caller.name} made ${member.displayName} ${article(role)} ${role} of the workspace.`,
      details: { memberId: member.memberId, old: member.role, new: role, revokedTokens: revoked.length },
    });
    return { ...viewOf(member), role };
  }
}

/** In front of a role. */
export function article(role: Role): 'a' | 'an' {
  return role === 'viewer' ? 'a' : 'an';
}

/** What ended with a membership. */
export type EndedWithMember = Pick<RemovedMember, 'revokedTokens' | 'withdrawnInvites'>;

/**
 * Ends a membership: the member leaves every team, and from the COMMIT on nothing opens that they know of: no token of theirs or
 * that they made for somebody else, and no invite to their address.
 */
@Injectable()
export class RemoveMember {
  constructor(
    private readonly members: Members,
    private readonly withdrawInvites: WithdrawInvites,
    private readonly tokensStopped: TokensStopped,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** @throws NotFound, Forbidden for a member with a role that the caller may not grant, LastOwner */
  async execute(caller: Caller, uid: string): Promise<RemovedMember> {
    const { workspaceId } = caller;
    const member = await this.members.get(workspaceId, uid);
    assertMayGrant(caller, member.role);
    if (member.role === 'owner' && (await this.members.count(workspaceId)).owners === 1)
      throw new LastOwner();
    const [ended] = await this.remove(caller, [member]);
    return { ...viewOf(member), status: 'removed', teams: [], ...ended! };
  }

  /** In the open transaction; the caller has checked the rights. Answers what ended with each. */
  async remove(
    caller: Caller,
    members: readonly Pick<MemberView, 'memberId' | 'email' | 'displayName'>[],
    because?: string,
  ): Promise<EndedWithMember[]> {
    const { workspaceId } = caller;
    const [now, by] = [this.clock.now(), actorOf(caller)];
    const ids = members.map(({ memberId }) => memberId);
    const revoked = await this.members.revokeTokens(workspaceId, ids, now);
    const roots = revoked.map(({ rootId }) => rootId);
    // Approvals are locked before a change of members enqueues the checks of their approvers.
    await this.tokensStopped.withdraw(workspaceId, roots, by);
    const ended = [];
    for (const member of members) {
      const { memberId, displayName } = member;
      this.members.remove(workspaceId, memberId, now);
      const revokedTokens = revoked.filter((token) => token.memberId === memberId).length;
      const withdrawnInvites = await this.withdrawInvites.ofRemoved(caller, member);
      this.receipts.append({
        actor: by,
        action: 'member.removed',
        entity: { type: 'member', id: memberId },
        summary: `${caller.name} removed ${displayName} from the workspace${because === undefined ? '' : `, since ${because}`}.`,
        details: { memberId, revokedTokens, withdrawnInvites },
      });
      ended.push({ revokedTokens, withdrawnInvites });
    }
    return ended;
  }
}

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
