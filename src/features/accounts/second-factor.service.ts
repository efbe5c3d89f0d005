import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { AccountActs } from './record-account-act.js';
import { AccountProof, type RenewedSession } from './account-proof.js';
import { NoSecondFactor, SecondFactorExists, WrongCode } from './accounts.errors.js';
import type {
  NewSecondFactor,
  ProveSecondFactorBody,
  RecoveryCodes,
  SecondFactorView,
} from './accounts.dto.js';
import {
  BEGUN_LASTS_MS,
  canBeConfirmed,
  isSetUp,
  type KeptSecondFactor,
  newRecoveryCodes,
  newSecret,
  otpauthUri,
  secretPurpose,
  typedCode,
} from './second-factor.js';
import { SecondFactors } from './accounts.repository.js';
import { Sessions } from './sessions.repository.js';
import { SignInTries } from './sign-in-tries.js';

/** The second factor of one's own account. */
@Injectable()
export class SecondFactorService {
  constructor(
    private readonly factors: SecondFactors,
    private readonly sessions: Sessions,
    private readonly proof: AccountProof,
    private readonly tries: SignInTries,
    private readonly acts: AccountActs,
    private readonly secrets: SecretBox,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** Whether the caller's account has a second factor, and whether their workspace wants one. */
  async read({ userId, workspaceId }: Caller): Promise<SecondFactorView> {
    const factor = await this.factors.find(userId);
    const workspaces = await this.sessions.membershipsOf(userId);
    return {
      isSetUp: isSetUp(factor),
      since: factor?.confirmedAt ?? null,
      recoveryCodesLeft: isSetUp(factor) ? factor.recoveryCodesLeft : 0,
      isRequired: workspaces.some((one) => one.workspaceId === workspaceId && one.requiresSecondFactor),
    };
  }

  /**
   * Makes a secret for an authenticator. Until a code of it was shown to be right, nothing asks for one.
   * @throws WrongPassword, RateLimited, SecondFactorExists
   */
  async begin(caller: Caller, address: string, password: string): Promise<NewSecondFactor> {
    const { userId, email } = caller;
    await this.proof.again(caller, address, { password });
    const secret = newSecret();
    const begunAt = this.clock.now();
    const sealed = this.secrets.seal(secret, secretPurpose(userId));
    await this.proof.act(caller, async () => {
      if (!(await this.factors.begin(userId, sealed, begunAt))) throw new SecondFactorExists();
    });
    return { secret, uri: otpauthUri(secret, email), expiresAt: begunAt + BEGUN_LASTS_MS };
  }

  /**
   * Sets up the second factor that was begun, by a code of it. Sessions that were begun without it end, but this one.
   * @throws NoSecondFactor, SecondFactorExists, WrongCode, RateLimited
   */
  async confirm(caller: Caller, address: string, code: string): Promise<RenewedSession<RecoveryCodes>> {
    const { userId, workspaceId, credentialId, email } = caller;
    const now = this.clock.now();
    const factor = await this.factors.find(userId);
    if (isSetUp(factor)) throw new SecondFactorExists();
    if (!canBeConfirmed(factor, now)) throw new NoSecondFactor();
    const step = await this.tries.prove(email, address, async () => this.stepOf(userId, factor, code));
    const { codes, hashes } = newRecoveryCodes();
    const secret = await this.proof.act(caller, async () => {
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

  /**
   * Shows the second factor of the account in a session that was begun without it, by signing in at an organisation.
   * Answers the secret that the session has from now on. @throws NoSecondFactor, WrongCode, RateLimited
   */
  async verify(caller: Caller, address: string, code: string): Promise<string> {
    const { userId, workspaceId, credentialId, email, name, memberId } = caller;
    if (!isSetUp(await this.factors.find(userId))) throw new NoSecondFactor();
    await this.tries.prove(email, address, async () => {
      if (!(await this.proof.acceptsCode(userId, code))) throw new WrongCode();
    });
    return this.proof.act(caller, async () => {
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

  /**
   * Makes ten new recovery codes, by password and code; those of before open nothing any more.
   * @throws WrongPassword, WrongCode, RateLimited, NoSecondFactor
   */
  async renewRecoveryCodes(
    caller: Caller,
    address: string,
    body: ProveSecondFactorBody,
  ): Promise<RecoveryCodes> {
    await this.proof.again(caller, address, body);
    const { codes, hashes } = newRecoveryCodes();
    await this.proof.act(caller, async () => {
      if (!(await this.factors.renewRecoveryCodes(caller.userId, hashes))) throw new NoSecondFactor();
      await this.acts.recordOf(caller, { action: 'second_factor.recovery_codes_renewed', mail: true });
    });
    return { recoveryCodes: codes };
  }

  /**
   * Removes one's own second factor, by password and code. Where the workspace requires one, another has to be set up.
   * @throws WrongPassword, WrongCode, RateLimited, NoSecondFactor
   */
  async remove(caller: Caller, address: string, body: ProveSecondFactorBody): Promise<void> {
    const { userId, workspaceId, credentialId } = caller;
    await this.proof.again(caller, address, body);
    await this.proof.act(caller, async () => {
      if (!(await this.factors.remove(userId))) throw new NoSecondFactor();
      this.sessions.setSecondFactor(workspaceId, credentialId, false);
      const endedSessions = await this.sessions.endAllOf(userId, this.clock.now(), credentialId);
      await this.acts.recordOf(caller, {
        action: 'second_factor.removed',
        details: { endedSessions },
        mail: true,
      });
    });
  }

  /** Another request has confirmed it meanwhile, or has begun another. */
  private async refusal(userId: string): Promise<Error> {
    return isSetUp(await this.factors.find(userId)) ? new SecondFactorExists() : new NoSecondFactor();
  }

  private stepOf(userId: string, { sealedSecret }: KeptSecondFactor, code: string): number {
    const typed = typedCode(code);
    const step = typed && 'totp' in typed ? this.proof.stepOf(userId, sealedSecret, typed.totp) : undefined;
    if (step === undefined) throw new WrongCode();
    return step;
  }
}
