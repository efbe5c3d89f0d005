import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition, ValidationFailed, NotFound } from '../../platform/kernel/errors.js';
import { newId, type Id } from '../../platform/kernel/ids.js';
import { cutText } from '../../platform/kernel/text.js';
import { nameKey, visibleName } from '../../platform/kernel/visible-name.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import {
  type TeamBody,
  type TeamView,
  Teams,
  limitReached,
  type ArchiveTeamBody,
  type ArchivedTeam,
  Members,
  type MemberView,
  type TeamRole,
  roleInTeam,
  seenFrom,
  viewOf,
  type RemovedMember,
} from '../workspaces/index.js';
import { MoveOrders } from '../standing-orders/index.js';
import { RemoveMember, article, type EndedWithMember } from './members.service.js';
import { TeamWork } from './team-work.repository.js';
import { TeamHasOpenWork } from './teams.errors.js';
import { WithdrawInvites } from './invites.service.js';

const MAX_TEAMS = 200;

@Injectable()
export class CreateTeam {
  constructor(
    private readonly teams: Teams,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** @throws AlreadyExists for a name that another team has, LimitReached */
  async execute(caller: Caller, body: TeamBody): Promise<TeamView> {
    const { workspaceId } = caller;
    const teamId = newId('team');
    const createdAt = this.clock.now();
    const name = visibleName(body.name);
    const begins = slugOf(name);
    const { count, slugs } = await this.teams.taken(workspaceId, begins);
    if (count >= MAX_TEAMS) throw limitReached('teams', MAX_TEAMS);
    const slug = slugs.includes(begins) ? `${begins}-${teamId.slice(-8)}` : begins;
    const row = { teamId, workspaceId, name, nameKey: nameKey(name), slug, createdAt, archivedAt: null };
    await this.teams.add(row);
    this.receipts.append({
      actor: actorOf(caller),
      action: 'team.created',
      entity: { type: 'team', id: teamId },
      teamId,
      summary: `${caller.name} created the team ${name}.`,
      details: { name, slug },
    });
    return { teamId, name, slug, memberCount: 0, createdAt, archivedAt: null };
  }
}

/** What can stand in an address of the name's beginning; `team` where nothing can. */
function slugOf(name: string): string {
  const plain = name.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '');
  const slug = cutText(plain.replace(/[^a-z0-9]+/g, '-'), 40, '').replace(/^-|-$/g, '');
  return slug === '' ? 'team' : slug;
}

@Injectable()
export class RenameTeam {
  constructor(
    private readonly teams: Teams,
    private readonly receipts: Receipts,
  ) {}

  /** The name it has already changes nothing. @throws NotFound, AlreadyExists, InvalidTransition for an archived one */
  async execute(caller: Caller, teamId: string, body: TeamBody): Promise<TeamView> {
    const team = await this.teams.get(caller, teamId);
    if (team.archivedAt !== null)
      throw new InvalidTransition({ message: 'An archived team cannot be renamed.' });
    const name = visibleName(body.name);
    if (name === team.name) return team;
    await this.teams.rename(caller.workspaceId, teamId, name, nameKey(name));
    this.receipts.append({
      actor: actorOf(caller),
      action: 'team.renamed',
      entity: { type: 'team', id: teamId },
      teamId,
      summary: `${caller.name} renamed the team ${team.name} to ${name}.`,
      details: { old: team.name, new: name },
    });
    return { ...team, name };
  }
}

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
