import { Injectable } from '@nestjs/common';
import { type Caller, hasRole, scopeOf } from '../../platform/auth/caller.js';
import { NotFound, ValidationFailed } from '../../platform/kernel/errors.js';
import { Teams } from './teams.repository.js';

/**
 * Which team a new record belongs to: the one that the request names, else the caller's only one, else none. Owner and
 * admin of the workspace never default to a team: whoever puts them into one would then read what they hand in.
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
    const { role, teamIds } = caller;
    const seesAll = hasRole(role, 'admin');
    if (asked === undefined || asked === null) {
      if (seesAll || teamIds.length === 0) return null;
      if (teamIds.length > 1) {
        throw new ValidationFailed({
          details: [
            {
              path: 'teamId',
              rule: 'isDefined',
              message: 'you are a member of several teams: name the team this is for',
            },
          ],
        });
      }
      return teamIds[0]!;
    }
    if (teamIds.includes(asked)) return asked;
    if (!seesAll) throw new NotFound();
    if (!(await this.teams.isWorking(scopeOf(caller), asked))) throw new NotFound();
    return asked;
  }
}
