import { Injectable } from '@nestjs/common';
import { type Actor, actorOf, type Caller, type Role } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { visibleName } from '../../platform/kernel/visible-name.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { Work } from '../../platform/work/work.js';
import { INVITE_LASTS_MS, newInviteToken, tokenPurpose, viewOf } from './invite.js';
import type { InviteEntity } from './invite.entity.js';
import type { InviteView } from './invites.dto.js';
import { Invites } from './invites.repository.js';
import { MAX_MEMBERS, Members, type TeamView, limitReached } from '../workspaces/index.js';
import { INVITE_MAIL } from './send-invite-mail.js';

const MAX_OPEN_INVITES = 200;

/** Who invites, to which workspace. */
export interface Inviter {
  workspaceId: string;
  actor: Actor;
}

export const inviterOf = (caller: Caller): Inviter => ({
  workspaceId: caller.workspaceId,
  actor: actorOf(caller),
});

/** Whom an invite is for. */
export interface Invitee {
  /** Folded. */
  email: string;
  role: Role;
  /** The inviter's name for them. */
  name?: string | undefined;
}

/** Makes an invite in the open transaction, and has it mailed after the COMMIT. */
@Injectable()
export class IssueInvite {
  constructor(
    private readonly invites: Invites,
    private readonly members: Members,
    private readonly secrets: SecretBox,
    private readonly work: Work,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** @throws LimitReached, RateLimited, AlreadyExists for an address that is invited to the same already */
  async execute(
    { workspaceId, actor }: Inviter,
    team: TeamView | null,
    { email, role, name }: Invitee,
  ): Promise<InviteView> {
    const now = this.clock.now();
    await this.assertRoom(workspaceId, now);
    await this.invites.assertMayMail(email, now);
    const inviteId = newId('inv');
    const { token, tokenHash } = newInviteToken();
    const invite: InviteEntity = {
      inviteId,
      workspaceId,
      teamId: team?.teamId ?? null,
      email,
      role,
      status: 'pending',
      tokenHash,
      sealedToken: this.secrets.seal(token, tokenPurpose({ inviteId })),
      generation: 1,
      mailStatus: 'queued',
      mailError: null,
      wrongPasswords: 0,
      mails: [new Date(now)],
      inviteeName: name === undefined ? null : visibleName(name),
      invitedBy: actor,
      createdAt: now,
      expiresAt: now + INVITE_LASTS_MS,
    };
    await this.invites.add(invite);
    this.work.enqueue(INVITE_MAIL, { id: inviteId });
    this.receipts.append({
      actor,
      action: 'invite.created',
      entity: { type: 'invite', id: inviteId },
      teamId: invite.teamId,
      summary: `${actor.name} invited ${email} to ${team ? `the team ${team.name}` : 'the workspace'} as ${role}.`,
      details: { email, role, expiresAt: invite.expiresAt },
    });
    return viewOf(invite, now);
  }

  private async assertRoom(workspaceId: string, now: number): Promise<void> {
    const open = await this.invites.countOpen(workspaceId, now);
    if (open >= MAX_OPEN_INVITES) {
      throw limitReached('open invites', MAX_OPEN_INVITES);
    }
    const { members } = await this.members.count(workspaceId);
    if (members >= MAX_MEMBERS) throw limitReached('members', MAX_MEMBERS);
  }
}
