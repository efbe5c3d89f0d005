import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import { viewOf } from './invite.js';
import type { InviteView } from './invites.dto.js';
import { inviterOf } from './issue-invite.js';
import { ManagedInvite } from './managed-invite.js';
import { WithdrawInvites } from './withdraw-invites.js';

/** Withdraws an invite: its link opens nothing any more, and its mail is not sent if it has not been. */
@Injectable()
export class WithdrawInvite {
  constructor(
    private readonly managed: ManagedInvite,
    private readonly withdrawInvites: WithdrawInvites,
    private readonly clock: Clock,
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
    this.withdrawInvites.withdraw(inviterOf(caller), [invite]);
    return viewOf({ ...invite, status: 'withdrawn' }, now);
  }
}
