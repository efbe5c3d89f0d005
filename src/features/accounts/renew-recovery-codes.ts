import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { AccountActs } from './account-acts.js';
import { NoSecondFactor } from './accounts.errors.js';
import { OwnAccount } from './own-account.js';
import { ProveAccount } from './prove-account.js';
import { newRecoveryCodes } from './second-factor.js';
import type { ProveSecondFactorBody, RecoveryCodes } from './second-factor.dto.js';
import { SecondFactors } from './second-factors.repository.js';

/** Makes ten new recovery codes, by password and code; those of before open nothing any more. */
@Injectable()
export class RenewRecoveryCodes {
  constructor(
    private readonly proveAccount: ProveAccount,
    private readonly ownAccount: OwnAccount,
    private readonly factors: SecondFactors,
    private readonly acts: AccountActs,
  ) {}

  /** @throws WrongPassword, WrongCode, RateLimited, NoSecondFactor */
  async execute(caller: Caller, address: string, body: ProveSecondFactorBody): Promise<RecoveryCodes> {
    await this.proveAccount.again(caller, address, body);
    const { codes, hashes } = newRecoveryCodes();
    await this.ownAccount.act(caller, async () => {
      if (!(await this.factors.renewRecoveryCodes(caller.userId, hashes))) throw new NoSecondFactor();
      await this.acts.recordOf(caller, { action: 'second_factor.recovery_codes_renewed', mail: true });
    });
    return { recoveryCodes: codes };
  }
}
