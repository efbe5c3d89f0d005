import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { Forbidden } from '../../platform/kernel/errors.js';
import { Audiences } from '../workspaces/index.js';

/** A Daily Report is of the whole workspace, so it is for those who see all of it (docs/decisions/0023). */
@Injectable()
export class RequireWholeWorkspace {
  constructor(private readonly audiences: Audiences) {}

  /** @throws Forbidden */
  async execute(caller: Caller): Promise<void> {
    if (await this.audiences.seesWhole(caller)) return;
    throw new Forbidden({
      message:
        'A report tells what all teams did: in a workspace with teams only its owner and admins read it.',
      details: { requiredRoles: ['admin', 'owner'] },
    });
  }
}
