import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { AccountActs } from './account-acts.js';
import { NoSecondFactor, SecondFactorExists, WrongCode } from './accounts.errors.js';
import { CheckSecondFactor } from './check-second-factor.js';
import { OwnAccount } from './own-account.js';
import type { RenewedSession } from './renewed-session.js';
import {
  canBeConfirmed,
  isSetUp,
  type KeptSecondFactor,
  newRecoveryCodes,
  typedCode,
} from './second-factor.js';
import type { RecoveryCodes } from './second-factor.dto.js';
import { SecondFactors } from './second-factors.repository.js';
import { Sessions } from './sessions.repository.js';
import { SignInTries } from './sign-in-tries.js';

/** Sets up the second factor that was begun, by a code of it. Sessions that were begun without it end, but this one. */
@Injectable()
export class ConfirmSecondFactor {
  constructor(
    private readonly tries: SignInTries,
    private readonly check: CheckSecondFactor,
    private readonly ownAccount: OwnAccount,
    private readonly factors: SecondFactors,
    private readonly sessions: Sessions,
    private readonly acts: AccountActs,
    private readonly clock: Clock,
  ) {}

  /** @throws NoSecondFactor, SecondFactorExists, WrongCode, RateLimited */
  async execute(caller: Caller, address: string, code: string): Promise<RenewedSession<RecoveryCodes>> {
    const { userId, workspaceId, credentialId, email } = caller;
    const now = this.clock.now();
    const factor = await this.factors.find(userId);
    if (isSetUp(factor)) throw new SecondFactorExists();
    if (!canBeConfirmed(factor, now)) throw new NoSecondFactor();
    const step = await this.tries.prove(email, address, async () => this.stepOf(userId, factor, code));
    const { codes, hashes } = newRecoveryCodes();
    const secret = await this.ownAccount.act(caller, async () => {
      if (!(await this.factors.confirm(userId, factor, step, hashes, now))) throw await this.refusal(userId);
      this.sessions.setSecondFactor(workspaceId, credentialId, true);
      const endedSessions = await this.sessions.endAllOf(userId, now, credentialId);
      await this.acts.recordOf(caller, {
        action: 'second_factor.added',
        details: { endedSessions },
        mail: true,
      });
      return this.sessions.renewSecret(workspaceId, credentialId);
    });
    return { answer: { recoveryCodes: codes }, secret };
  }

  /** Another request has confirmed it meanwhile, or has begun another. */
  private async refusal(userId: string): Promise<Error> {
    return isSetUp(await this.factors.find(userId)) ? new SecondFactorExists() : new NoSecondFactor();
  }

  private stepOf(userId: string, { sealedSecret }: KeptSecondFactor, code: string): number {
    const typed = typedCode(code);
    const step = typed && 'totp' in typed ? this.check.stepOf(userId, sealedSecret, typed.totp) : undefined;
    if (step === undefined) throw new WrongCode();
    return step;
  }
}
