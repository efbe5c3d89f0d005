import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import { nameKey, visibleName } from '../../platform/kernel/visible-name.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { type TeamBody, type TeamView, Teams } from '../workspaces/index.js';

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
