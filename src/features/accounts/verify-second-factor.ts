import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { NoSecondFactor, WrongCode } from './accounts.errors.js';
import { CheckSecondFactor } from './check-second-factor.js';
import { OwnAccount } from './own-account.js';
import { isSetUp } from './second-factor.js';
import { SecondFactors } from './second-factors.repository.js';
import { Sessions } from './sessions.repository.js';
import { SignInTries } from './sign-in-tries.js';

/** Shows the second factor of the account in a session that was begun without it, by signing in at an organisation. */
@Injectable()
export class VerifySecondFactor {
  constructor(
    private readonly tries: SignInTries,
    private readonly factors: SecondFactors,
    private readonly check: CheckSecondFactor,
    private readonly ownAccount: OwnAccount,
    private readonly sessions: Sessions,
    private readonly receipts: Receipts,
  ) {}

  /** Answers the secret that the session has from now on. @throws NoSecondFactor, WrongCode, RateLimited */
  async execute(caller: Caller, address: string, code: string): Promise<string> {
    const { userId, workspaceId, credentialId, email, name, memberId } = caller;
    if (!isSetUp(await this.factors.find(userId))) throw new NoSecondFactor();
    await this.tries.prove(email, address, async () => {
      if (!(await this.check.accepts(userId, code))) throw new WrongCode();
    });
    return this.ownAccount.act(caller, async () => {
      this.sessions.setSecondFactor(workspaceId, credentialId, true);
      this.receipts.append({
        actor: actorOf(caller),
        action: 'session.second_factor_shown',
        entity: { type: 'session', id: credentialId },
        summary: `${name} showed a second factor.`,
        details: { memberId },
      });
      return this.sessions.renewSecret(workspaceId, credentialId);
    });
  }
}
