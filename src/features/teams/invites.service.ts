import { Injectable } from '@nestjs/common';
import { type Caller, hasRole, actorOf, type Actor, type Role } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound, InvalidTransition } from '../../platform/kernel/errors.js';
import { isId, newId } from '../../platform/kernel/ids.js';
import { visibleName } from '../../platform/kernel/visible-name.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { Work } from '../../platform/work/work.js';
import {
  assertMayGrant,
  MAX_MEMBERS,
  Members,
  type TeamView,
  limitReached,
  type MemberView,
} from '../workspaces/index.js';
import type { InviteEntity } from './invite.entity.js';
import { Invites } from './invites.repository.js';
import { INVITE_LASTS_MS, newInviteToken, tokenPurpose, viewOf, mayInvite } from './invite.js';
import type { InviteView } from './invites.dto.js';
import { INVITE_MAIL } from './send-invite-mail.js';

/** An invite that the caller may change: one to a team whose admin they are, or to the workspace with a role they may grant. */
@Injectable()
export class ManagedInvite {
  constructor(private readonly invites: Invites) {}

  /** Keeps it for this transaction. @throws NotFound, Forbidden */
  async lock(caller: Caller, inviteId: string): Promise<InviteEntity> {
    if (!isId('inv', inviteId)) throw new NotFound();
    const invite = await this.invites.lock(caller.workspaceId, inviteId);
    if (!invite) throw new NotFound();
    // Invites to no team are the workspace's own affair: to others they are not there.
    if (invite.teamId === null && !hasRole(caller.role, 'admin')) throw new NotFound();
    requireRole(caller, invite.teamId, 'admin');
    if (invite.teamId === null) assertMayGrant(caller, invite.role);
    return invite;
  }
}

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
      // Every member reads receipts, and only admins read whom an invite is for.
      summary: `${actor.name} invited somebody to ${team ? `the team ${team.name}` : 'the workspace'} as ${role}.`,
      details: { role, expiresAt: invite.expiresAt },
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
