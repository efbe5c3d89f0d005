import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { isSetUp } from './second-factor.js';
import type { SecondFactorView } from './second-factor.dto.js';
import { SecondFactors } from './second-factors.repository.js';
import { Sessions } from './sessions.repository.js';

/** Whether the caller's account has a second factor, and whether their workspace wants one. */
@Injectable()
export class ReadSecondFactor {
  constructor(
    private readonly factors: SecondFactors,
    private readonly sessions: Sessions,
  ) {}

  async execute({ userId, workspaceId }: Caller): Promise<SecondFactorView> {
    const factor = await this.factors.find(userId);
    const workspaces = await this.sessions.membershipsOf(userId);
    return {
      isSetUp: isSetUp(factor),
      since: factor?.confirmedAt ?? null,
      recoveryCodesLeft: isSetUp(factor) ? factor.recoveryCodesLeft : 0,
      isRequired: workspaces.some((one) => one.workspaceId === workspaceId && one.requiresSecondFactor),
    };
  }
}
