import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { assertNewPassword, canonicalPassword } from '../../platform/auth/new-password.js';
import { Passwords } from '../../platform/auth/passwords.js';
import { Clock } from '../../platform/kernel/clock.js';
import { AccountActs } from './account-acts.js';
import { sameAsOld, WrongPassword } from './accounts.errors.js';
import { Accounts } from './accounts.repository.js';
import { OwnAccount } from './own-account.js';
import type { ChangedPassword, ChangePasswordBody } from './passwords.dto.js';
import { ProveAccount } from './prove-account.js';
import type { RenewedSession } from './renewed-session.js';
import { Sessions } from './sessions.repository.js';

/** Changes the password of the signed-in person, and ends every other session of the account. */
@Injectable()
export class ChangePassword {
  constructor(
    private readonly proveAccount: ProveAccount,
    private readonly passwords: Passwords,
    private readonly ownAccount: OwnAccount,
    private readonly accounts: Accounts,
    private readonly sessions: Sessions,
    private readonly acts: AccountActs,
    private readonly clock: Clock,
  ) {}

  /** @throws ValidationFailed, WrongPassword, RateLimited */
  async execute(
    caller: Caller,
    address: string,
    { currentPassword, newPassword }: ChangePasswordBody,
  ): Promise<RenewedSession<ChangedPassword>> {
    const { userId, workspaceId, email, name: displayName, credentialId } = caller;
    const workspaceNames = await this.sessions.workspaceNamesOf(userId);
    const owner = { email, displayName, workspaceNames };
    await assertNewPassword(newPassword, { path: 'newPassword', owner });
    const oldHash = await this.proveAccount.again(caller, address, { password: currentPassword });
    if (canonicalPassword(newPassword) === canonicalPassword(currentPassword)) throw sameAsOld();
    const newHash = await this.passwords.hash(newPassword);
    const changedAt = this.clock.now();
    return this.ownAccount.act(caller, async () => {
      const isChanged = await this.accounts.setPassword(userId, oldHash, newHash, changedAt);
      if (!isChanged) throw new WrongPassword({ message: 'Your password was changed meanwhile.' });
      const endedSessions = await this.sessions.endAllOf(userId, changedAt, credentialId);
      await this.acts.recordOf(caller, {
        action: 'password.changed',
        details: { endedSessions },
        mail: true,
      });
      const secret = this.sessions.renewSecret(workspaceId, credentialId);
      return { answer: { changedAt, endedSessions }, secret };
    });
  }
}
