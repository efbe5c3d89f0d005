import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import type { DirectiveStatus } from '../terms/index.js';
import { Teams } from '../workspaces/index.js';
import type { DirectiveEntity } from './directive.entity.js';

/** Whether what has ended may be taken up again: it may be too late for it, or nobody may be left to see it. */
@Injectable()
export class AssertWanted {
  constructor(
    private readonly teams: Teams,
    private readonly clock: Clock,
  ) {}

  /** @throws InvalidTransition unless it ended so, after its deadline, or in an archived team */
  async execute(
    { workspaceId, teamId, status, deadline }: DirectiveEntity,
    ended: DirectiveStatus,
  ): Promise<void> {
    const refused = (message: string) => new InvalidTransition({ message, details: { status } });
    if (status !== ended) throw refused(`Its directive has not ${ended}; it is ${status}.`);
    if (teamId !== null && (await this.teams.isArchived(workspaceId, teamId))) {
      throw refused(
        'The team of this directive has been archived. Hand in a new directive for what is still wanted.',
      );
    }
    if (deadline !== null && deadline <= this.clock.now()) {
      throw refused('The deadline of this directive has passed. Hand in a new one if it is still wanted.');
    }
  }
}
