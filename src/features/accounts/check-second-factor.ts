import { Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { SecretBox, SecretUnreadable } from '../../platform/secrets/secret-box.js';
import { AccountActs } from './account-acts.js';
import { NO_WORKSPACE } from './no-workspace.js';
import { isSetUp, secretPurpose, stepOf, typedCode } from './second-factor.js';
import { SecondFactors } from './second-factors.repository.js';

/** Holds a code against the second factor of an account. A code that is right is used up by that. */
@Injectable()
export class CheckSecondFactor {
  constructor(
    private readonly db: Db,
    private readonly factors: SecondFactors,
    private readonly secrets: SecretBox,
    private readonly acts: AccountActs,
    private readonly clock: Clock,
    private readonly logger: PinoLogger,
  ) {}

  /** Whether the code is right and was not used before, in a transaction of its own. */
  async accepts(userId: string, code: string): Promise<boolean> {
    const typed = typedCode(code);
    if (!typed) return false;
    return 'totp' in typed
      ? this.acceptsTotp(userId, typed.totp)
      : this.acceptsRecoveryCode(userId, typed.recoveryHash);
  }

  /** The time step whose code this is. */
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
