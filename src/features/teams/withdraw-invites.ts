import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import type { MemberView, TeamView } from '../workspaces/index.js';
import { mayInvite } from './invite.js';
import type { InviteEntity } from './invite.entity.js';
import { type Inviter, inviterOf } from './issue-invite.js';
import { Invites } from './invites.repository.js';
import { INVITE_MAIL } from './send-invite-mail.js';

/** Withdraws invites in the open transaction: their links open nothing any more, and mails that wait are not sent. */
@Injectable()
export class WithdrawInvites {
  constructor(
    private readonly db: Db,
    private readonly invites: Invites,
    private readonly work: Work,
    private readonly receipts: Receipts,
  ) {}

  /**
   * Every invite by which a removed member could come back, to whatever team, and those that they sent, which nobody can
   * accept any more. Answers how many.
   */
  async ofRemoved(
    caller: Caller,
    { memberId, email, displayName }: Pick<MemberView, 'memberId' | 'email' | 'displayName'>,
  ): Promise<number> {
    await this.db.unit.seeWholeWorkspace();
    const open = await this.invites.lockPending(caller.workspaceId, { by: memberId, to: email });
    this.withdraw(inviterOf(caller), open, `${displayName} was removed`);
    return open.length;
  }

  /** The invites of a member that they could not send any more as they are now. */
  async beyond(
    caller: Caller,
    member: Pick<MemberView, 'memberId' | 'displayName' | 'role' | 'teams'>,
  ): Promise<void> {
    const sent = await this.invites.lockPending(caller.workspaceId, { by: member.memberId });
    this.withdraw(
      inviterOf(caller),
      sent.filter((invite) => !mayInvite(member, invite)),
      `${member.displayName} may not send it any more`,
    );
  }

  /** Every open invite to a team that the open transaction archives. */
  async ofTeam(caller: Caller, { teamId, name }: TeamView): Promise<void> {
    const open = await this.invites.withdrawOf(caller.workspaceId, teamId);
    this.record(
      inviterOf(caller),
      open.map((invite) => ({ ...invite, teamId })),
      `the team ${name} was archived`,
    );
  }

  withdraw(by: Inviter, invites: readonly InviteEntity[], because?: string): void {
    for (const { inviteId } of invites) this.invites.end(by.workspaceId, inviteId, 'withdrawn');
    this.record(by, invites, because);
  }

  private record(
    { actor }: Inviter,
    invites: readonly Pick<InviteEntity, 'inviteId' | 'teamId'>[],
    because?: string,
  ): void {
    if (invites.length === 0) return;
    this.work.cancel(
      INVITE_MAIL,
      invites.map(({ inviteId }) => inviteId),
    );
    const since = because === undefined ? '' : `, since ${because}`;
    for (const { inviteId, teamId } of invites) {
      this.receipts.append({
        actor,
        action: 'invite.withdrawn',
        entity: { type: 'invite', id: inviteId },
        teamId,
        summary: `${actor.name} withdrew an invite${since}.`,
      });
    }
  }
}
