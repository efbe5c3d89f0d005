import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { Work } from '../../platform/work/work.js';
import { INVITE_LASTS_MS, newInviteToken, tokenPurpose, viewOf } from './invite.js';
import type { InviteView } from './invites.dto.js';
import { Invites } from './invites.repository.js';
import { ManagedInvite } from './managed-invite.js';
import { INVITE_MAIL } from './send-invite-mail.js';

/** Sends an invite again, with a link of its own and seven more days; the link that was sent before opens nothing then. */
@Injectable()
export class ResendInvite {
  constructor(
    private readonly managed: ManagedInvite,
    private readonly invites: Invites,
    private readonly secrets: SecretBox,
    private readonly work: Work,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** @throws NotFound, Forbidden, RateLimited, InvalidTransition for one that was accepted, withdrawn or replaced */
  async execute(caller: Caller, inviteId: string): Promise<InviteView> {
    const invite = await this.managed.lock(caller, inviteId);
    if (invite.status !== 'pending') {
      throw new InvalidTransition({ message: `This invite is ${invite.status}; it cannot be sent again.` });
    }
    const now = this.clock.now();
    await this.invites.assertMayMail(invite.email, now);
    const { token, tokenHash } = newInviteToken();
    const renewed = {
      ...invite,
      tokenHash,
      sealedToken: this.secrets.seal(token, tokenPurpose(invite)),
      generation: invite.generation + 1,
      mailStatus: 'queued' as const,
      mailError: null,
      wrongPasswords: 0,
      expiresAt: now + INVITE_LASTS_MS,
    };
    this.invites.renew(renewed);
    this.work.enqueue(INVITE_MAIL, { id: inviteId });
    this.receipts.append({
      actor: actorOf(caller),
      action: 'invite.resent',
      entity: { type: 'invite', id: inviteId },
      teamId: invite.teamId,
      summary: `${caller.name} sent an invite again.`,
      details: { expiresAt: renewed.expiresAt },
    });
    return viewOf(renewed, now);
  }
}
