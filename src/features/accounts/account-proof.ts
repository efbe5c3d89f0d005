import { Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { refreshed, sharedMembership, type Standing, standingOf } from '../../platform/auth/membership.js';
import { Passwords } from '../../platform/auth/passwords.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { SecretBox, SecretUnreadable } from '../../platform/secrets/secret-box.js';
import { AccountActs } from './record-account-act.js';
import {
  NoSecondFactor,
  secondFactorRequired,
  WrongCode,
  wrongCredentials,
  WrongPassword,
  wrongSignInCode,
} from './accounts.errors.js';
import { NO_WORKSPACE, SecondFactors } from './accounts.repository.js';
import { isSetUp, secretPurpose, stepOf, typedCode } from './second-factor.js';
import { type Account, Sessions } from './sessions.repository.js';
import { SignInTries } from './sign-in-tries.js';

/** An account whose password was shown. */
export interface ProvedAccount extends Account {
  passwordHash: string;
}

/** What an act answers that proves the account anew, and the secret that its session has from now on. */
export interface RenewedSession<T> {
  answer: T;
  secret: string;
}

/** Whether somebody has an account: by its password, and its second factor if it has one. */
@Injectable()
export class AccountProof {
  constructor(
    private readonly db: Db,
    private readonly sessions: Sessions,
    private readonly passwords: Passwords,
    private readonly factors: SecondFactors,
    private readonly secrets: SecretBox,
    private readonly tries: SignInTries,
    private readonly acts: AccountActs,
    private readonly clock: Clock,
    private readonly logger: PinoLogger,
  ) {}

  /**
   * For who signs in; the caller counts the try. Whether there is such an account is told neither by the answer nor by the time
   * that it takes. @throws Unauthorized
   */
  async byPassword(email: string, password: string): Promise<ProvedAccount> {
    const account = await this.sessions.accountOf(email);
    const fits = await this.passwords.verify(password, account?.passwordHash);
    if (!account || !fits) throw wrongCredentials();
    return { ...account, passwordHash: account.passwordHash! };
  }

  /**
   * For who signs in and has shown the password: whether a second factor was shown as well, which an account that has one must.
   * @throws Unauthorized
   */
  async byCode({ userId, hasSecondFactor }: ProvedAccount, code: string | undefined): Promise<boolean> {
    if (!hasSecondFactor) return false;
    if (code === undefined) throw secondFactorRequired();
    if (!(await this.acceptsCode(userId, code))) throw wrongSignInCode();
    return true;
  }

  /**
   * Once more, for an act on one's own account: somebody at an open browser is not its owner. Answers the hash that
   * the password fits. @throws WrongPassword, WrongCode, NoSecondFactor, RateLimited
   */
  again(
    { email, userId }: Caller,
    address: string,
    { password, code }: { password: string; code?: string },
  ): Promise<string> {
    return this.tries.prove(email, address, async () => {
      const account = await this.sessions.accountOf(email);
      const passwordHash = account?.passwordHash ?? null;
      if (passwordHash === null) throw new WrongPassword({ reason: 'no_password', message: NO_PASSWORD });
      if (!(await this.passwords.verify(password, passwordHash))) throw new WrongPassword();
      if (code === undefined) return passwordHash;
      if (!account!.hasSecondFactor) throw new NoSecondFactor();
      if (!(await this.acceptsCode(userId, code))) throw new WrongCode();
      return passwordHash;
    });
  }

  /**
   * What a member does to their own account. The transaction is opened after the password was held against its hash, which takes
   * a while; the session must still be open then.
   * @throws Unauthorized for a session that has ended meanwhile
   */
  act<T>(caller: Caller, act: () => Promise<T>): Promise<T> {
    return this.db.transaction(
      scopeOf(caller),
      (_unit, opened) => {
        refreshed(caller, (opened.at(-1) as Standing[])[0]);
        return act();
      },
      [sharedMembership(caller.workspaceId), standingOf(caller)],
    );
  }

  /**
   * Whether this is a code of the second factor of the account that was not used before; it is used up by that, in a transaction of
   * its own.
   */
  async acceptsCode(userId: string, code: string): Promise<boolean> {
    const typed = typedCode(code);
    if (!typed) return false;
    return 'totp' in typed
      ? this.acceptsTotp(userId, typed.totp)
      : this.acceptsRecoveryCode(userId, typed.recoveryHash);
  }

  /** The time step of an authenticator whose code this is. */
  stepOf(userId: string, sealedSecret: string, code: string): number | undefined {
    try {
      return stepOf(this.secrets.open(sealedSecret, secretPurpose(userId)), code, this.clock.now());
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      this.logger.error({ err: error, userId }, 'a second factor cannot be checked; its recovery codes can');
      return undefined;
    }
  }

  private async acceptsTotp(userId: string, code: string): Promise<boolean> {
    const factor = await this.factors.find(userId);
    if (!isSetUp(factor)) return false;
    const step = this.stepOf(userId, factor.sealedSecret, code);
    if (step === undefined) return false;
    return this.db.transaction(NO_WORKSPACE, () => this.factors.acceptStep(userId, step, this.clock.now()));
  }

  private acceptsRecoveryCode(userId: string, codeHash: string): Promise<boolean> {
    return this.db.transaction(NO_WORKSPACE, async () => {
      const isAccepted = await this.factors.acceptRecoveryCode(userId, codeHash, this.clock.now());
      if (isAccepted) {
        await this.acts.record(userId, {
          action: 'second_factor.recovery_code_used',
          via: 'dashboard',
          mail: true,
        });
      }
      return isAccepted;
    });
  }
}

const NO_PASSWORD = 'Your account has no password: it signs in at your organisation.';
