import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { article } from './change-role.js';
import {
  type MemberView,
  Members,
  type TeamRole,
  Teams,
  roleInTeam,
  seenFrom,
  viewOf,
} from '../workspaces/index.js';
import { WithdrawInvites } from './withdraw-invites.js';

@Injectable()
export class ChangeTeamRole {
  constructor(
    private readonly teams: Teams,
    private readonly members: Members,
    private readonly withdrawInvites: WithdrawInvites,
    private readonly receipts: Receipts,
  ) {}

  /** The role that the member has already changes nothing. @throws NotFound, Forbidden */
  async execute(caller: Caller, teamId: string, uid: string, role: TeamRole): Promise<MemberView> {
    const { workspaceId } = caller;
    const team = await this.teams.get(caller, teamId);
    requireRole(caller, teamId, 'admin');
    const member = await this.members.get(workspaceId, uid);
    const old = roleInTeam(member, teamId);
    if (old === undefined) throw new NotFound();
    const teams = member.teams.map((one) => (one.teamId === teamId ? { teamId, role } : one));
    const changed = seenFrom(scopeOf(caller), { ...viewOf(member), teams });
    if (old === role) return changed;
    this.members.putInTeam({ workspaceId, teamId, memberId: member.memberId, role });
    await this.withdrawInvites.beyond(caller, { ...member, teams });
    this.receipts.append({
      actor: actorOf(caller),
      action: 'team.role_changed',
      entity: { type: 'member', id: member.memberId },
      teamId,
      summary: `${caller.name} made ${member.displayName} ${article(role)} ${role} of the team ${team.name}.`,
      details: { memberId: member.memberId, old, new: role },
    });
    return changed;
  }
}
