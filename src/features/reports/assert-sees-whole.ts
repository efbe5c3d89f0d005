import { Injectable } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Forbidden } from '../../platform/kernel/errors.js';

/**
 * A report is of the whole workspace, so it is for those who see all of it: owner and admins, and everybody where there has never
 * been a team (docs/decisions/0023).
 */
@Injectable()
export class AssertSeesWhole {
  constructor(private readonly db: Db) {}

  /** @throws Forbidden */
  async execute(caller: Caller): Promise<void> {
    if (scopeOf(caller).teamIds === 'all') return;
    const { workspaceId } = caller;
    const [row] = await this.db.read<{ hasTeams: boolean }>(
      { workspaceId, teamIds: 'all' },
      'select exists (select from teams where workspace_id = $1) as has_teams',
      [workspaceId],
    );
    if (!row!.hasTeams) return;
    throw new Forbidden({
      message:
        'A report tells what all teams did: in a workspace with teams only its owner and admins read it.',
      details: { requiredRoles: ['admin', 'owner'] },
    });
  }
}
