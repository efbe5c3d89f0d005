import { Injectable } from '@nestjs/common';
import type { Via } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Invites } from './invites.repository.js';
import { JoinWorkspace } from './join-workspace.js';

/**
 * Lets a member who was removed come back by the invite that is open to their address, without its link. The person
 * has just proved that the address is theirs, and has no password to accept an invite with.
 */
@Injectable()
export class Rejoin {
  constructor(
    private readonly invites: Invites,
    private readonly joinWorkspace: JoinWorkspace,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /**
   * In the open transaction, which has the workspace's membership alone. Answers whether there was such an invite.
   * @throws InviteExpired when the inviter lost the right, LimitReached
   */
  async execute(
    workspaceId: string,
    account: { userId: string; displayName: string; email: string },
    via: Via,
  ): Promise<boolean> {
    const { userId, displayName: name, email } = account;
    const invite = await this.invites.lockOpenTo(workspaceId, email, this.clock.now());
    if (!invite) return false;
    const { inviteId, teamId } = invite;
    const { memberId, role } = await this.joinWorkspace.execute(invite, account);
    this.invites.end(workspaceId, inviteId, 'accepted');
    this.receipts.append({
      actor: { type: 'member', id: memberId, name, via },
      action: 'invite.accepted',
      entity: { type: 'invite', id: inviteId },
      teamId,
      summary: `${name} came back as ${role} by signing in, which accepted the invite.`,
      details: { memberId, userId, role, isNewAccount: false },
    });
    return true;
  }
}
