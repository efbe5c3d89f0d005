import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { viewOf } from './invite.js';
import type { InviteView } from './invites.dto.js';
import { Invites } from './invites.repository.js';
import { ManagedInvite } from './managed-invite.js';
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
    this.work.cancel(INVITE_MAIL, [inviteId]);
    this.receipts.append({
      actor: actorOf(caller),
      action: 'invite.withdrawn',
      entity: { type: 'invite', id: inviteId },
      teamId: invite.teamId,
      summary: `${caller.name} withdrew the invite of ${invite.email}.`,
      details: { email: invite.email },
    });
    return viewOf({ ...invite, status: 'withdrawn' }, now);
  }
}
