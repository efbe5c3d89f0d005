import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import type { Caller } from '../../platform/auth/caller.js';
import { assertNewPassword, canonicalPassword } from '../../platform/auth/new-password.js';
import { Passwords } from '../../platform/auth/passwords.js';
import { Db } from '../../platform/database/db.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { foldedMailAddress } from '../../platform/kernel/mail-address.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { Work } from '../../platform/work/work.js';
import { type MailOutcome, MailWork } from '../mail/index.js';
import { type AccountMail, accountMail, resetMail } from './account-act.js';
import { ACCOUNT_MAIL, AccountActs } from './record-account-act.js';
import { AccountProof, type RenewedSession } from './account-proof.js';
import type { ChangedPassword, ChangePasswordBody } from './accounts.dto.js';
import { ResetLinkExpired, sameAsOld, WrongPassword } from './accounts.errors.js';
import {
  Accounts,
  ACCOUNTS,
  isUsable,
  newResetToken,
  NO_WORKSPACE,
  type PasswordReset,
  RESET_LASTS_MS,
  tokenPurpose,
} from './accounts.repository.js';
import { Sessions } from './sessions.repository.js';
import { accountOf } from './sign-in-tries.js';

const RESET_MAIL = 'password.mail';

/** Tells the owner of an account by mail what has changed in it, and mails the link for a new password, whose token it then forgets. */
@Injectable()
export class AccountMails implements OnModuleInit {
  constructor(
    private readonly mailWork: MailWork,
    private readonly accounts: Accounts,
    private readonly secrets: SecretBox,
    private readonly address: PublicAddress,
    private readonly clock: Clock,
    private readonly acts: AccountActs,
    private readonly logger: PinoLogger,
  ) {}

  onModuleInit(): void {
    this.mailWork.declare<AccountMail & { userId: string }>({
      name: ACCOUNT_MAIL,
      pool: 2,
      perQueue: 2,
      find: ({ id }) => this.accounts.mail(id),
      messageOf: accountMail,
      ended: (mail, outcome) => this.noticeEnded(mail, outcome),
    });
    this.mailWork.declare<PasswordReset>({
      name: RESET_MAIL,
      pool: 4,
      perQueue: 4,
      find: ({ id }) => this.accounts.readReset(id),
      messageOf: (reset) => this.resetMailOf(reset),
      ended: (reset, outcome) => this.resetMailEnded(reset, outcome),
    });
  }

  private async noticeEnded(
    { mailId, userId, notice }: AccountMail & { userId: string },
    outcome: MailOutcome,
  ): Promise<void> {
    this.accounts.endMail(mailId);
    if (outcome.status === 'obsolete') return;
    if (outcome.status === 'failed') {
      const { error } = outcome;
      this.logger.warn({ userId, notice, error }, 'the owner of an account could not be mailed');
      await this.acts.record(userId, { action: 'account.mail_failed', details: { about: notice, error } });
      return;
    }
    const { transport } = outcome;
    await this.acts.record(userId, { action: 'account.mailed', details: { about: notice, transport } });
  }

  /** @throws SecretUnreadable */
  private resetMailOf(reset: PasswordReset) {
    const { resetId, email, sealedToken, expiresAt } = reset;
    if (sealedToken === null || !isUsable(reset, this.clock.now())) return undefined;
    const token = this.secrets.open(sealedToken, tokenPurpose(resetId));
    return resetMail(resetId, email, `${this.address.url}/password/${token}`, expiresAt);
  }

  private async resetMailEnded({ resetId, userId }: PasswordReset, outcome: MailOutcome): Promise<void> {
    this.accounts.endResetMail(resetId);
    if (outcome.status === 'obsolete') return;
    if (outcome.status === 'failed') {
      const { error } = outcome;
      this.logger.warn({ userId, error }, 'the link for a new password could not be mailed');
      await this.acts.record(userId, { action: 'password.reset_mail_failed', details: { error } });
      return;
    }
    const { transport } = outcome;
    await this.acts.record(userId, { action: 'password.reset_mailed', details: { transport } });
  }
}

/** Sets the password of an account: by the one that it has, or by a mailed link. */
@Injectable()
export class PasswordService {
  constructor(
    private readonly db: Db,
    private readonly accounts: Accounts,
    private readonly sessions: Sessions,
    private readonly proof: AccountProof,
    private readonly passwords: Passwords,
    private readonly acts: AccountActs,
    private readonly secrets: SecretBox,
    private readonly work: Work,
    private readonly clock: Clock,
  ) {}

  /**
   * Changes the password of the signed-in person, and ends every other session of the account.
   * @throws ValidationFailed, WrongPassword, RateLimited
   */
  async change(
    caller: Caller,
    address: string,
    { currentPassword, newPassword }: ChangePasswordBody,
  ): Promise<RenewedSession<ChangedPassword>> {
    const { userId, workspaceId, email, name: displayName, credentialId } = caller;
    const workspaceNames = await this.sessions.workspaceNamesOf(userId);
    const owner = { email, displayName, workspaceNames };
    await assertNewPassword(newPassword, { path: 'newPassword', owner });
    const oldHash = await this.proof.again(caller, address, { password: currentPassword });
    if (canonicalPassword(newPassword) === canonicalPassword(currentPassword)) throw sameAsOld();
    const newHash = await this.passwords.hash(newPassword);
    const changedAt = this.clock.now();
    return this.proof.act(caller, async () => {
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

  /**
   * Notes that somebody has forgotten the password of an account with this address. Whether there is one is looked up by the
   * work that mails: the request does, writes and answers the same either way, and so takes as long.
   */
  async requestReset(address: string): Promise<void> {
    const resetId = newId('rst');
    const { token, tokenHash } = newResetToken();
    const requestedAt = this.clock.now();
    await this.db.transaction(NO_WORKSPACE, async () => {
      const isAdded = await this.accounts.addReset({
        resetId,
        email: foldedMailAddress(address),
        tokenHash,
        sealedToken: this.secrets.seal(token, tokenPurpose(resetId)),
        requestedAt,
        expiresAt: requestedAt + RESET_LASTS_MS,
      });
      if (isAdded) this.work.enqueue(RESET_MAIL, { id: resetId, queue: ACCOUNTS });
    });
  }

  /** What the link opens, without opening it. @throws NotFound, ResetLinkExpired */
  async findReset(token: string): Promise<PasswordReset> {
    const reset = await this.accounts.resetOfToken(token);
    if (!reset) throw new NotFound({ message: 'There is no such link; ask for another.' });
    if (!isUsable(reset, this.clock.now())) throw new ResetLinkExpired();
    return reset;
  }

  /**
   * Sets a new password by a mailed link: its holder has the mailbox. All sessions of the account end, and nobody is signed
   * in by it, so a second factor is asked for as ever.
   * @throws NotFound, ResetLinkExpired, ValidationFailed
   */
  async reset(token: string, newPassword: string, address: string): Promise<{ changedAt: number }> {
    const reset = await this.findReset(token);
    const { userId, email } = reset;
    const workspaceNames = await this.sessions.workspaceNamesOf(userId);
    await assertNewPassword(newPassword, { path: 'newPassword', owner: { ...reset, workspaceNames } });
    if (await this.passwords.verify(newPassword, reset.passwordHash)) throw sameAsOld();
    const passwordHash = await this.passwords.hash(newPassword);
    const changedAt = this.clock.now();
    await this.db.transaction(NO_WORKSPACE, async () => {
      const from = { account: accountOf(email), address, at: changedAt };
      if (!(await this.accounts.useReset(reset, passwordHash, from))) throw new ResetLinkExpired();
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
