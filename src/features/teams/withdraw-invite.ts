import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { viewOf } from './invite.js';
import type { InviteEntity } from './invite.entity.js';
import type { InviteView } from './invites.dto.js';
import { Invites } from './invites.repository.js';
import { ManagedInvite } from './managed-invite.js';
import type { TeamView } from '../workspaces/teams.dto.js';
import { INVITE_MAIL } from './send-invite-mail.js';

/** Withdraws an invite: its link opens nothing any more, and its mail is not sent if it has not been. */
@Injectable()
export class WithdrawInvite {
  constructor(
    private readonly managed: ManagedInvite,
    private readonly invites: Invites,
    private readonly work: Work,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** One that nobody can accept any more stays as it is. @throws NotFound, Forbidden, InvalidTransition for an accepted one */
  async execute(caller: Caller, inviteId: string): Promise<InviteView> {
    const invite = await this.managed.lock(caller, inviteId);
    const now = this.clock.now();
    if (invite.status === 'accepted') {
      throw new InvalidTransition({
        message: 'This invite was accepted already; remove the member instead.',
      });
    }
    if (invite.status !== 'pending') return viewOf(invite, now);
    this.invites.end(caller.workspaceId, inviteId, 'withdrawn');
    this.record(caller, invite, `${caller.name} withdrew the invite of ${invite.email}.`);
    return viewOf({ ...invite, status: 'withdrawn' }, now);
  }

  /** Withdraws every open invite to a team that the open transaction archives. */
  async allOf(caller: Caller, { teamId, name }: TeamView): Promise<void> {
    for (const { inviteId, email } of await this.invites.withdrawOf(caller.workspaceId, teamId)) {
      const summary = `The invite of ${email} was withdrawn: ${caller.name} archived the team ${name}.`;
      this.record(caller, { inviteId, email, teamId }, summary);
    }
  }

  private record(
    caller: Caller,
    { inviteId, email, teamId }: Pick<InviteEntity, 'inviteId' | 'email' | 'teamId'>,
    summary: string,
  ): void {
    this.work.cancel(INVITE_MAIL, [inviteId]);
    this.receipts.append({
      actor: actorOf(caller),
      action: 'invite.withdrawn',
      entity: { type: 'invite', id: inviteId },
      teamId,
      summary,
      details: { email },
    });
  }
}
