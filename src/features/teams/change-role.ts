import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, type Role } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { type MemberView, Members, TokensStopped, assertMayGrant, viewOf } from '../workspaces/index.js';
import { LastOwner } from './teams.errors.js';
import { WithdrawInvites } from './withdraw-invites.js';

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
