import type { Db } from '../../platform/database/db.js';
import type { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { foldedMailAddress } from '../../platform/kernel/mail-address.js';
import { StartRefused } from '../../platform/kernel/start-refused.js';
import { Accounts, NO_WORKSPACE, SecondFactors } from './accounts.repository.js';
import { Sessions } from './sessions.repository.js';

/**
 * Removes the second factor of somebody who has lost the authenticator and the recovery codes, and ends all their sessions. It
 * needs neither, so nothing that answers requests calls it: only the command `npm run recover` on the server does. The running
 * service, or the next, writes the receipts and mails the owner of the account.
 */
export class RecoverSecondFactor {
  readonly #sessions: Sessions;
  readonly #secondFactors: SecondFactors;
  readonly #accounts: Accounts;

  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
  ) {
    this.#sessions = new Sessions(db);
    this.#secondFactors = new SecondFactors(db);
    this.#accounts = new Accounts(db);
  }

  /** @throws StartRefused when the address has no account with a second factor */
  async execute(email: string): Promise<void> {
    const at = this.clock.now();
    const account = await this.#sessions.accountOf(foldedMailAddress(email));
    await this.db.transaction(NO_WORKSPACE, async () => {
      if (!account || !(await this.#secondFactors.remove(account.userId)))
        throw new StartRefused(`There is no account ${email} with a second factor.`);
      const { userId } = account;
      const endedSessions = await this.#sessions.endAllOf(userId, at);
      await this.#accounts.addAct({
        userId,
        action: 'second_factor.removed_on_server',
        via: null,
        details: { endedSessions },
        at,
        recordedIn: null,
        mailId: newId('msg'),
      });
    });
  }
}
