import type { Db } from '../../platform/database/db.js';
import type { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { foldedMailAddress } from '../../platform/kernel/mail-address.js';
import { StartRefused } from '../../platform/kernel/start-refused.js';
import type { AccountAction } from './account-act.js';
import { NO_WORKSPACE } from './no-workspace.js';

const ACTION: AccountAction = 'second_factor.removed_on_server';

/**
 * Removes the second factor of somebody who has lost the authenticator and the recovery codes, and ends all their sessions. It
 * needs neither, so nothing that answers requests calls it: only the command `npm run recover` on the server does. The running
 * service, or the next, writes the receipts and mails the owner of the account.
 */
export class RecoverSecondFactor {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
  ) {}

  /** @throws StartRefused when the address has no account with a second factor */
  async execute(email: string): Promise<void> {
    const now = new Date(this.clock.now());
    await this.db.transaction(NO_WORKSPACE, async () => {
      const [account] = await this.db.query<{ userId: string }>('select user_id from app.find_account($1)', [
        foldedMailAddress(email),
      ]);
      const [removed] = account
        ? await this.db.query<{ done: boolean }>('select app.remove_second_factor($1) as done', [
            account.userId,
          ])
        : [];
      if (!removed?.done) throw new StartRefused(`There is no account ${email} with a second factor.`);
      const { userId } = account!;
      const [ended] = await this.db.query<{ count: number }>(
        'select app.end_sessions($1, null, $2) as count',
        [userId, now],
      );
      const details = JSON.stringify({ endedSessions: ended!.count });
      await this.db.query('select app.record_account_act($1, $2, null, $3::jsonb, $4, null, $5)', [
        userId,
        ACTION,
        details,
        now,
        newId('msg'),
      ]);
    });
  }
}
