import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import type { MemberView } from '../workspaces/members.dto.js';
import { Members, roleInTeam, seenFrom, viewOf } from '../workspaces/members.repository.js';
import { RemoveMember } from './remove-member.js';
import { Teams } from '../workspaces/teams.repository.js';

/**
 * Takes a member out of a team. Who was in the workspace for this team alone leaves that too: they would else see what
 * belongs to no team, which nobody has ever shown them.
 */
@Injectable()
export class RemoveFromTeam {
  constructor(
    private readonly teams: Teams,
    private readonly members: Members,
    private readonly removeMember: RemoveMember,
    private readonly receipts: Receipts,
  ) {}

  /** @throws NotFound, Forbidden */
  async execute(caller: Caller, teamId: string, uid: string): Promise<MemberView> {
    const { workspaceId } = caller;
    const team = await this.teams.get(caller, teamId);
    requireRole(caller, teamId, 'admin');
    const member = await this.members.get(workspaceId, uid);
    const role = roleInTeam(member, teamId);
    if (role === undefined) throw new NotFound();
    const teams = member.teams.filter((one) => one.teamId !== teamId);
    const leaves = member.teamOnly && teams.length === 0;
    this.members.takeFromTeam(workspaceId, teamId, member.memberId);
    this.receipts.append({
      actor: actorOf(caller),
      action: 'team.member_removed',
      entity: { type: 'member', id: member.memberId },
      teamId,
      summary: `${caller.name} removed ${member.displayName} from the team ${team.name}.`,
      details: { memberId: member.memberId, role },
    });
    if (leaves) this.removeMember.remove(caller, member, `${team.name} was their only team`);
    return seenFrom(scopeOf(caller), { ...viewOf(member), teams, status: leaves ? 'removed' : 'active' });
  }
}
