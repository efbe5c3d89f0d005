import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { SecondFactorExists } from './accounts.errors.js';
import { OwnAccount } from './own-account.js';
import { ProveAccount } from './prove-account.js';
import { BEGUN_LASTS_MS, newSecret, otpauthUri, secretPurpose } from './second-factor.js';
import type { NewSecondFactor } from './second-factor.dto.js';
import { SecondFactors } from './second-factors.repository.js';

/** Makes a secret for an authenticator. Until a code of it was shown to be right, nothing asks for one. */
@Injectable()
export class BeginSecondFactor {
  constructor(
    private readonly proveAccount: ProveAccount,
    private readonly ownAccount: OwnAccount,
    private readonly factors: SecondFactors,
    private readonly secrets: SecretBox,
    private readonly clock: Clock,
  ) {}

  /** @throws WrongPassword, RateLimited, SecondFactorExists */
  async execute(caller: Caller, address: string, password: string): Promise<NewSecondFactor> {
    const { userId, email } = caller;
    await this.proveAccount.again(caller, address, { password });
    const secret = newSecret();
    const begunAt = this.clock.now();
    const sealed = this.secrets.seal(secret, secretPurpose(userId));
    await this.ownAccount.act(caller, async () => {
      if (!(await this.factors.begin(userId, sealed, begunAt))) throw new SecondFactorExists();
    });
    return { secret, uri: otpauthUri(secret, email), expiresAt: begunAt + BEGUN_LASTS_MS };
  }
}
