import { Injectable } from '@nestjs/common';
import { type Caller, scopeOf, seesWholeWorkspace } from '../../platform/auth/caller.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { Teams } from './teams.repository.js';
import { teamNotNamed } from './workspaces.errors.js';

/**
 * Which team a new record belongs to: the one that the request names, else the caller's only one, else none. Owner and
 * admin of the workspace never default to a team: a member who adds them to one would then read their directives.
 */
@Injectable()
export class TeamOfRequest {
  constructor(private readonly teams: Teams) {}

  /**
   * @throws NotFound for a team that does not exist or that the caller may not see
   * @throws ValidationFailed when the caller is in several teams and names none: a record without a team would be
   * one that the caller could not see
   */
  async resolve(caller: Caller, asked: string | null | undefined): Promise<string | null> {
    const { teamIds } = caller;
    const seesAll = seesWholeWorkspace(caller);
    if (asked === undefined || asked === null) {
      if (seesAll || teamIds.length === 0) return null;
      if (teamIds.length > 1) throw teamNotNamed();
      return teamIds[0]!;
    }
    if (teamIds.includes(asked)) return asked;
    if (!seesAll || !(await this.teams.isActive(scopeOf(caller), asked))) throw new NotFound();
    return asked;
  }
}
