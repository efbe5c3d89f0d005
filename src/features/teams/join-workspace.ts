import { Injectable } from '@nestjs/common';
import type { Role } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { AlreadyExists, NotFound } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import type { InviteEntity } from './invite.entity.js';
import { mayInvite } from './invite.js';
import {
  MAX_MEMBERS,
  MAX_TEAM_MEMBERS,
  type Member,
  Members,
  type TeamRole,
  limitReached,
  roleInTeam,
} from '../workspaces/index.js';
import { InviteExpired } from './teams.errors.js';

/** Makes a user the member that an invite speaks of; the inviter must still have the right. */
@Injectable()
export class JoinWorkspace {
  constructor(
    private readonly members: Members,
    private readonly clock: Clock,
  ) {}

  /** @throws InviteExpired when the one who invited may not any more, AlreadyExists for a member of the workspace, LimitReached */
  async execute(
    invite: InviteEntity,
    { userId }: { userId: string },
  ): Promise<{ memberId: string; role: Role }> {
    const { workspaceId, teamId, role } = invite;
    await this.assertStillInvited(invite);
    const known = await this.members.findByUser(workspaceId, userId);
    if (teamId === null && known?.status === 'active') {
      throw new AlreadyExists({ message: 'You are a member of this workspace already.' });
    }
    const isMember = known?.status === 'active';
    const held = isMember && teamId !== null ? roleInTeam(known, teamId) : undefined;
    if (!held) await this.assertRoom(invite, isMember);
    const memberId = this.join(invite, userId, known);
    if (teamId === null) return { memberId, role };
    if (held) return { memberId, role: held };
    this.members.putInTeam({ workspaceId, teamId, memberId, role: role as TeamRole });
    return { memberId, role };
  }

  /** Counted again under the workspace's lock: others have joined since the invite was sent. @throws LimitReached */
  private async assertRoom({ workspaceId, teamId }: InviteEntity, isMember: boolean): Promise<void> {
    if (!isMember && (await this.members.count(workspaceId)).members >= MAX_MEMBERS) {
      throw limitReached('members', MAX_MEMBERS);
    }
    if (teamId !== null && (await this.members.countInTeam(workspaceId, teamId)) >= MAX_TEAM_MEMBERS) {
      throw limitReached('members of a team', MAX_TEAM_MEMBERS);
    }
  }

  /** A person invited to a team is a viewer of the workspace (CONTRACT section 4). */
  private join(
    { workspaceId, teamId, role }: InviteEntity,
    userId: string,
    known: Member | undefined,
  ): string {
    if (known?.status === 'active') return known.memberId;
    const now = this.clock.now();
    const inWorkspace = {
      role: teamId === null ? role : ('viewer' as const),
      teamOnly: teamId !== null,
      status: 'active' as const,
      joinedAt: now,
    };
    if (known) {
      this.members.change(workspaceId, known.memberId, inWorkspace);
      return known.memberId;
    }
    const memberId = newId('mem');
    this.members.add({ memberId, workspaceId, userId, lastSeenAt: null, openedAt: null, ...inWorkspace });
    return memberId;
  }

  private async assertStillInvited(invite: InviteEntity): Promise<void> {
    const { workspaceId, invitedBy } = invite;
    // The maker of the workspace, who is no member of it, invites the first owner.
    if (invitedBy.type === 'admin') return;
    const inviter = await this.members.get(workspaceId, invitedBy.id).catch((error: unknown) => {
      if (error instanceof NotFound) return undefined;
      throw error;
    });
    if (inviter && mayInvite(inviter, invite)) return;
    throw new InviteExpired({
      message: `${invitedBy.name}, who sent this invite, may not invite any more; ask for another.`,
    });
  }
}
