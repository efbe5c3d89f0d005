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

/** Invites from being sent to being withdrawn; accepting one is told in accept-invite.ts. */
@Injectable()
export class InviteService {
  constructor(
    private readonly invites: Invites,
    private readonly secrets: SecretBox,
    private readonly work: Work,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
    private readonly members: Members,
    private readonly db: Db,
  ) {}

  /**
   * Sends an invite again, with a link of its own and seven more days; the link that was sent before opens nothing then.
   * @throws NotFound, Forbidden, RateLimited, InvalidTransition for one that was accepted, withdrawn or replaced
   */
  async resend(caller: Caller, inviteId: string): Promise<InviteView> {
    const invite = await this.lockManaged(caller, inviteId);
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

  /**
   * Makes an invite in the open transaction, and has it mailed after the COMMIT.
   * @throws LimitReached, RateLimited, AlreadyExists for an address that is invited to the same already
   */
  async issue(
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

  /**
   * Withdraws invites in the open transaction: their links open nothing any more, and mails that wait are not sent.
   * Every invite by which a removed member could come back, to whatever team, and those that they sent, which nobody can
   * accept any more. Answers how many.
   */
  async withdrawOfRemoved(
    caller: Caller,
    { memberId, email, displayName }: Pick<MemberView, 'memberId' | 'email' | 'displayName'>,
  ): Promise<number> {
    await this.db.unit.seeWholeWorkspace();
    const open = await this.invites.lockPending(caller.workspaceId, { by: memberId, to: email });
    this.withdrawAll(inviterOf(caller), open, `${displayName} was removed`);
    return open.length;
  }

  /** The invites of a member that they could not send any more as they are now. */
  async withdrawBeyond(
    caller: Caller,
    member: Pick<MemberView, 'memberId' | 'displayName' | 'role' | 'teams'>,
  ): Promise<void> {
    const sent = await this.invites.lockPending(caller.workspaceId, { by: member.memberId });
    this.withdrawAll(
      inviterOf(caller),
      sent.filter((invite) => !mayInvite(member, invite)),
      `${member.displayName} may not send it any more`,
    );
  }

  /** Every open invite to a team that the open transaction archives. */
  async withdrawOfTeam(caller: Caller, { teamId, name }: TeamView): Promise<void> {
    const open = await this.invites.withdrawOf(caller.workspaceId, teamId);
    this.record(
      inviterOf(caller),
      open.map((invite) => ({ ...invite, teamId })),
      `the team ${name} was archived`,
    );
  }

  withdrawAll(by: Inviter, invites: readonly InviteEntity[], because?: string): void {
    for (const { inviteId } of invites) this.invites.end(by.workspaceId, inviteId, 'withdrawn');
    this.record(by, invites, because);
  }

  /**
   * Withdraws an invite: its link opens nothing any more, and its mail is not sent if it has not been.
   * One that nobody can accept any more stays as it is. @throws NotFound, Forbidden, InvalidTransition for an accepted one
   */
  async withdraw(caller: Caller, inviteId: string): Promise<InviteView> {
    const invite = await this.lockManaged(caller, inviteId);
    const now = this.clock.now();
    if (invite.status === 'accepted') {
      throw new InvalidTransition({
        message: 'This invite was accepted already; remove the member instead.',
      });
    }
    if (invite.status !== 'pending') return viewOf(invite, now);
    this.withdrawAll(inviterOf(caller), [invite]);
    return viewOf({ ...invite, status: 'withdrawn' }, now);
  }

  /**
   * An invite that the caller may change: one to a team whose admin they are, or to the workspace with a role they may grant.
   * Keeps it for this transaction. @throws NotFound, Forbidden
   */
  private async lockManaged(caller: Caller, inviteId: string): Promise<InviteEntity> {
    if (!isId('inv', inviteId)) throw new NotFound();
    const invite = await this.invites.lock(caller.workspaceId, inviteId);
    if (!invite) throw new NotFound();
    // Invites to no team are the workspace's own affair: to others they are not there.
    if (invite.teamId === null && !hasRole(caller.role, 'admin')) throw new NotFound();
    requireRole(caller, invite.teamId, 'admin');
    if (invite.teamId === null) assertMayGrant(caller, invite.role);
    return invite;
  }

  private async assertRoom(workspaceId: string, now: number): Promise<void> {
    const open = await this.invites.countOpen(workspaceId, now);
    if (open >= MAX_OPEN_INVITES) {
      throw limitReached('open invites', MAX_OPEN_INVITES);
    }
    const { members } = await this.members.count(workspaceId);
    if (members >= MAX_MEMBERS) throw limitReached('members', MAX_MEMBERS);
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
