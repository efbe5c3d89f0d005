import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition, ValidationFailed } from '../../platform/kernel/errors.js';
import type { Id } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import {
  type ArchiveTeamBody,
  type ArchivedTeam,
  Members,
  type TeamView,
  Teams,
} from '../workspaces/index.js';
import { MoveOrders } from '../standing-orders/index.js';
import { RemoveMember } from './remove-member.js';
import { TeamWork } from './team-work.repository.js';
import { TeamHasOpenWork } from './teams.errors.js';
import { WithdrawInvites } from './withdraw-invites.js';

/**
 * Ends a team: its members leave it, its invites are withdrawn, and what it has not finished goes to another team or to
 * none. It has the workspace's acts to itself, so nothing new begins in the team while it ends.
 */
@Injectable()
export class ArchiveTeam {
  constructor(
    private readonly teams: Teams,
    private readonly work: TeamWork,
    private readonly moveOrders: MoveOrders,
    private readonly members: Members,
    private readonly withdrawInvites: WithdrawInvites,
    private readonly removeMember: RemoveMember,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** @throws NotFound, InvalidTransition for one that is archived or is sending, TeamHasOpenWork */
  async execute(caller: Caller, teamId: string, { moveTo }: ArchiveTeamBody): Promise<ArchivedTeam> {
    const { workspaceId } = caller;
    const team = await this.teams.get(caller, teamId);
    if (team.archivedAt !== null) throw new InvalidTransition({ message: 'This team is archived already.' });
    const target = typeof moveTo === 'string' ? await this.target(caller, teamId, moveTo) : undefined;
    const { sending, ...open } = await this.work.lock(workspaceId, teamId);
    if (moveTo === undefined && Object.values(open).some((count) => count > 0)) {
      throw new TeamHasOpenWork({ details: open });
    }
    if (sending > 0) {
      const message = 'Work packets of this team are being sent; try again when they are done.';
      throw new InvalidTransition({ message, details: { sending }, retryAfterSeconds: 1 });
    }
    const pausedOrders = await this.moveWork(caller, team, target);
    const archivedAt = this.clock.now();
    const leaving = await this.members.onlyIn(workspaceId, teamId);
    await this.removeMember.remove(caller, leaving, `the team ${team.name} was archived`);
    this.members.emptyTeam(workspaceId, teamId);
    await this.withdrawInvites.ofTeam(caller, team);
    this.teams.archive(workspaceId, teamId, archivedAt);
    const movedTo = target?.teamId ?? null;
    this.receipts.append({
      actor: actorOf(caller),
      action: 'team.archived',
      entity: { type: 'team', id: teamId },
      teamId,
      summary: `${caller.name} archived the team ${team.name}.`,
      details: {
        moved: open,
        movedTo,
        pausedOrders,
        removedMembers: leaving.length,
        members: team.memberCount,
      },
    });
    return {
      team: { ...team, memberCount: 0, archivedAt },
      movedTo,
      moved: open,
      pausedOrders,
      removedMembers: leaving.length,
    };
  }

  private async target(caller: Caller, teamId: string, moveTo: string): Promise<TeamView> {
    const refused = (message: string) =>
      new ValidationFailed({ details: [{ path: 'moveTo', rule: 'isOtherTeam', message }] });
    if (moveTo === teamId) throw refused('moveTo must be another team than the one that is archived');
    const target = await this.teams.get(caller, moveTo);
    if (target.archivedAt !== null) throw refused('moveTo must be a team that is not archived');
    return target;
  }

  /** Each directive, order, action request and question leaves a receipt where it is now. Answers how many orders are paused. */
  private async moveWork(caller: Caller, from: TeamView, to: TeamView | undefined): Promise<number> {
    const teamId = to?.teamId ?? null;
    const moved = await this.work.move(caller.workspaceId, from.teamId, teamId);
    const where = to ? `to the team ${to.name}` : 'to no team';
    for (const { entityType: type, entityId: id, title } of moved) {
      this.receipts.append({
        actor: actorOf(caller),
        action: `${type === 'action_request' ? 'action' : type}.moved`,
        entity: { type, id },
        teamId,
        ...(type === 'directive' && { directiveId: id }),
        summary: `${caller.name} moved ${NOUNS[type]} "${title}" ${where}.`,
        details: { from: from.teamId, to: teamId },
      });
    }
    const orders = { teamId: teamId as Id<'team'> | null, where };
    return this.moveOrders.execute(from.teamId, orders, actorOf(caller));
  }
}

const NOUNS = {
  directive: 'the directive',
  action_request: 'the action request',
  approval: 'the question',
} as const;
