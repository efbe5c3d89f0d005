import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { cutText } from '../../platform/kernel/text.js';
import { newId } from '../../platform/kernel/ids.js';
import { nameKey, visibleName } from '../../platform/kernel/visible-name.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { type TeamBody, type TeamView, Teams, limitReached } from '../workspaces/index.js';

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
