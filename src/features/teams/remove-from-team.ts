import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Members, type RemovedMember, Teams, roleInTeam, seenFrom, viewOf } from '../workspaces/index.js';
import { type EndedWithMember, RemoveMember } from './remove-member.js';
import { WithdrawInvites } from './withdraw-invites.js';

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
    private readonly withdrawInvites: WithdrawInvites,
    private readonly receipts: Receipts,
  ) {}

  /** @throws NotFound, Forbidden */
  async execute(caller: Caller, teamId: string, uid: string): Promise<RemovedMember> {
    const { workspaceId } = caller;
    const team = await this.teams.get(caller, teamId);
    requireRole(caller, teamId, 'admin');
    const member = await this.members.get(workspaceId, uid);
    const role = roleInTeam(member, teamId);
    if (role === undefined) throw new NotFound();
    const teams = member.teams.filter((one) => one.teamId !== teamId);
    const leaves = member.teamOnly && teams.length === 0;
    this.receipts.append({
      actor: actorOf(caller),
      action: 'team.member_removed',
      entity: { type: 'member', id: member.memberId },
      teamId,
      summary: `${caller.name} removed ${member.displayName} from the team ${team.name}.`,
      details: { memberId: member.memberId, role },
    });
    let ended: EndedWithMember | undefined;
    if (leaves) {
      [ended] = await this.removeMember.remove(caller, [member], `${team.name} was their only team`);
    } else {
      this.members.takeFromTeam(workspaceId, teamId, member.memberId);
      await this.withdrawInvites.beyond(caller, { ...member, teams });
    }
    const left = { ...viewOf(member), teams, status: leaves ? ('removed' as const) : ('active' as const) };
    return { ...seenFrom(scopeOf(caller), left), ...(ended ?? { revokedTokens: 0, withdrawnInvites: 0 }) };
  }
}
