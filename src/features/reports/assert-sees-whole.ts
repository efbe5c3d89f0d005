import { Injectable } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { Forbidden } from '../../platform/kernel/errors.js';
import { Teams } from '../workspaces/teams.repository.js';

/**
 * A report is of the whole workspace, so it is for those who see all of it: owner and admins, and everybody where there has never
 * been a team (docs/decisions/0023).
 */
@Injectable()
export class AssertSeesWhole {
  constructor(private readonly teams: Teams) {}

  /** @throws Forbidden */
  async execute(caller: Caller): Promise<void> {
    if (scopeOf(caller).teamIds === 'all') return;
    if (!(await this.teams.areThere(caller.workspaceId))) return;
    throw new Forbidden({
      message:
        'A report tells what all teams did: in a workspace with teams only its owner and admins read it.',
      details: { requiredRoles: ['admin', 'owner'] },
    });
  }
}
