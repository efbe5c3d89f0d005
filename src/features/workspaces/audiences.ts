import { Injectable } from '@nestjs/common';
import { type Caller, scopeOf, seesWholeWorkspace } from '../../platform/auth/caller.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Teams } from './teams.repository.js';
import { teamNotNamed } from './workspaces.errors.js';

/**
 * Whose numbers and records a read shows: those of the whole workspace, of these teams, or, with none, of what belongs to no
 * team. {@link Audiences} says which a caller reads.
 */
export type Audience = Scope['teamIds'];

/** The team of which alone it is, as records carry it; null for all others. */
export function teamOf(audience: Audience): string | null {
  return audience !== 'all' && audience.length === 1 ? audience[0]! : null;
}

/** Whose numbers a caller reads (CONTRACT section 4). */
@Injectable()
export class Audiences {
  constructor(private readonly teams: Teams) {}

  /**
   * The team that is named, also one that was archived; else all that the caller may see.
   *
   * @param ofSeveral what a member of several teams reads who names none: all of them together; or, since what is read is of
   * one team, nothing until one is named
   * @throws NotFound for a team that does not exist or that the caller may not see
   * @throws ValidationFailed for a member of several teams who has to name one
   */
  async of(
    caller: Caller,
    asked: string | undefined,
    ofSeveral: 'together' | 'one-named',
  ): Promise<Audience> {
    if (asked !== undefined) {
      if (!caller.teamIds.includes(asked)) await this.teams.get(caller, asked);
      return [asked];
    }
    const { teamIds } = scopeOf(caller);
    if (ofSeveral === 'one-named' && teamIds !== 'all' && teamIds.length > 1) throw teamNotNamed();
    return teamIds;
  }

  /** Each that the caller may read apart from the others. */
  async allOf(caller: Caller): Promise<Audience[]> {
    const { teamIds } = caller;
    if (!seesWholeWorkspace(caller)) return teamIds.length === 0 ? [[]] : teamIds.map((teamId) => [teamId]);
    const teams = await this.teams.allIds(scopeOf(caller));
    return ['all', [], ...teams.map((teamId) => [teamId])];
  }

  /**
   * Whether the caller sees what every team does: owner and admins, and everybody where there has never been a team
   * (docs/decisions/0023).
   */
  async seesWhole(caller: Caller): Promise<boolean> {
    return seesWholeWorkspace(caller) || !(await this.teams.areThere(caller.workspaceId));
  }
}
