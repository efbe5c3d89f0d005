import { Injectable } from '@nestjs/common';
import { type Caller, hasRole } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import type { InviteEntity } from './invite.entity.js';
import { Invites } from './invites.repository.js';
import { assertMayGrant } from '../workspaces/index.js';

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
