import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { AccountActs } from './account-acts.js';
import { NoSecondFactor } from './accounts.errors.js';
import { OwnAccount } from './own-account.js';
import { ProveAccount } from './prove-account.js';
import type { ProveSecondFactorBody } from './second-factor.dto.js';
import { SecondFactors } from './second-factors.repository.js';
import { Sessions } from './sessions.repository.js';

/** Removes one's own second factor, by password and code. Where the workspace requires one, another has to be set up. */
@Injectable()
export class RemoveSecondFactor {
  constructor(
    private readonly proveAccount: ProveAccount,
    private readonly ownAccount: OwnAccount,
    private readonly factors: SecondFactors,
    private readonly sessions: Sessions,
    private readonly acts: AccountActs,
    private readonly clock: Clock,
  ) {}

  /** @throws WrongPassword, WrongCode, RateLimited, NoSecondFactor */
  async execute(caller: Caller, address: string, body: ProveSecondFactorBody): Promise<void> {
    const { userId, workspaceId, credentialId } = caller;
    await this.proveAccount.again(caller, address, body);
    await this.ownAccount.act(caller, async () => {
      if (!(await this.factors.remove(userId))) throw new NoSecondFactor();
      this.sessions.setSecondFactor(workspaceId, credentialId, false);
      const endedSessions = await this.sessions.endAllOf(userId, this.clock.now(), credentialId);
      await this.acts.recordOf(caller, {
        action: 'second_factor.removed',
        details: { endedSessions },
        mail: true,
      });
    });
  }
}
