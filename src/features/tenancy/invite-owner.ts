import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { exclusiveMembership } from '../../platform/auth/membership.js';
import { Db } from '../../platform/database/db.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import { foldedMailAddress } from '../../platform/kernel/mail-address.js';
import { visibleName } from '../../platform/kernel/visible-name.js';
import { type InviteView, type Inviter, Invites, IssueInvite, WithdrawInvites } from '../teams/index.js';
import { Members } from '../workspaces/index.js';
import { WorkspaceList } from './workspace-list.repository.js';
import type { OwnerBody } from './workspaces.dto.js';

/**
 * Invites the owner of a workspace once more, or somebody else: a mail did not arrive, or was not answered in time. Only while
 * nobody has accepted: then the workspace is its members' own.
 */
@Injectable()
export class InviteOwner {
  constructor(
    private readonly db: Db,
    private readonly list: WorkspaceList,
    private readonly members: Members,
    private readonly invites: Invites,
    private readonly withdrawInvites: WithdrawInvites,
    private readonly issueInvite: IssueInvite,
  ) {}

  /** @throws NotFound, InvalidTransition once it has a member, RateLimited */
  async execute(caller: Caller, workspaceId: string, body: OwnerBody): Promise<InviteView> {
    // To an owner of any other workspace than the first there are none.
    if (!isId('wks', workspaceId) || !(await this.list.has(workspaceId))) throw new NotFound();
    if (workspaceId === caller.workspaceId) throw hasMembers();
    const inviter: Inviter = { workspaceId, actor: { ...actorOf(caller), type: 'admin' } };
    return this.db.inWorkspace({ workspaceId, teamIds: 'all' }, async () => {
      // A concurrent acceptance either came first or finds the invite withdrawn.
      await this.db.unit.batch([exclusiveMembership(workspaceId)]);
      if ((await this.members.count(workspaceId)).members > 0) throw hasMembers();
      const open = await this.invites.lockAllPending(workspaceId);
      this.withdrawInvites.withdraw(inviter, open, 'the owner was invited again');
      return this.issueInvite.execute(inviter, null, {
        email: foldedMailAddress(body.ownerEmail),
        role: 'owner',
        ...(body.ownerName !== undefined && { name: visibleName(body.ownerName) }),
      });
    });
  }
}

function hasMembers(): Error {
  return new InvalidTransition({
    message: 'This workspace has members: its owners invite others themselves.',
  });
}
