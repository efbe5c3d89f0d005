import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import {
  type MemberView,
  Members,
  type RemovedMember,
  TokensStopped,
  assertMayGrant,
  viewOf,
} from '../workspaces/index.js';
import { LastOwner } from './teams.errors.js';
import { WithdrawInvites } from './withdraw-invites.js';

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
