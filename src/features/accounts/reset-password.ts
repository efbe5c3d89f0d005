import { Injectable } from '@nestjs/common';
import { assertNewPassword } from '../../platform/auth/new-password.js';
import { Passwords } from '../../platform/auth/passwords.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { AccountActs } from './account-acts.js';
import { ResetLinkExpired, sameAsOld } from './accounts.errors.js';
import { NO_WORKSPACE } from './no-workspace.js';
import { isUsable } from './password-reset.js';
import { type PasswordReset, PasswordResets } from './password-resets.repository.js';
import { Sessions } from './sessions.repository.js';
import { accountOf } from './sign-in-tries.js';

/**
 * Sets a new password by a mailed link: its holder has the mailbox. All sessions of the account end, and nobody is signed
 * in by it, so a second factor is asked for as ever.
 */
@Injectable()
export class ResetPassword {
  constructor(
    private readonly resets: PasswordResets,
    private readonly passwords: Passwords,
    private readonly db: Db,
    private readonly sessions: Sessions,
    private readonly acts: AccountActs,
    private readonly clock: Clock,
  ) {}

  /** What the link opens, without opening it. @throws NotFound, ResetLinkExpired */
  async look(token: string): Promise<PasswordReset> {
    const reset = await this.resets.ofToken(token);
    if (!reset) throw new NotFound({ message: 'There is no such link; ask for another.' });
    if (!isUsable(reset, this.clock.now())) throw new ResetLinkExpired();
    return reset;
  }

  /** @throws NotFound, ResetLinkExpired, ValidationFailed */
  async execute(token: string, newPassword: string, address: string): Promise<{ changedAt: number }> {
    const reset = await this.look(token);
    const { userId, email } = reset;
    const workspaceNames = await this.sessions.workspaceNamesOf(userId);
    await assertNewPassword(newPassword, { path: 'newPassword', owner: { ...reset, workspaceNames } });
    if (await this.passwords.verify(newPassword, reset.passwordHash)) throw sameAsOld();
    const passwordHash = await this.passwords.hash(newPassword);
    const changedAt = this.clock.now();
    await this.db.transaction(NO_WORKSPACE, async () => {
      const from = { account: accountOf(email), address, at: changedAt };
      if (!(await this.resets.use(reset, passwordHash, from))) throw new ResetLinkExpired();
      const endedSessions = await this.sessions.endAllOf(userId, changedAt);
      await this.acts.record(userId, {
        action: 'password.reset',
        via: 'link',
        details: { endedSessions },
        mail: true,
      });
    });
    return { changedAt };
  }
}
