import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { NO_WORKSPACE } from './no-workspace.js';
import type { KeptSecondFactor } from './second-factor.js';

/** Second factors belong to an account and to no workspace: every statement is a function of the database. */
@Injectable()
export class SecondFactors {
  constructor(private readonly db: Db) {}

  async find(userId: string): Promise<KeptSecondFactor | undefined> {
    const [factor] = await this.db.read<KeptSecondFactor>(
      NO_WORKSPACE,
      'select sealed_secret, begun_at, confirmed_at, recovery_codes_left from app.find_second_factor($1)',
      [userId],
    );
    return factor;
  }

  /** False when the account has a confirmed one. */
  begin(userId: string, sealedSecret: string, at: number): Promise<boolean> {
    return this.answer('app.begin_second_factor($1, $2, $3)', [userId, sealedSecret, new Date(at)]);
  }

  /** Of any number of confirmations at a time one answers true. */
  confirm(
    userId: string,
    { sealedSecret }: KeptSecondFactor,
    step: number,
    codeHashes: string[],
    at: number,
  ): Promise<boolean> {
    return this.answer('app.confirm_second_factor($1, $2, $3, $4, $5)', [
      userId,
      sealedSecret,
      step,
      codeHashes,
      new Date(at),
    ]);
  }

  /** Uses up the code of a time step; of any number of uses at a time one answers true. */
  acceptStep(userId: string, step: number, at: number): Promise<boolean> {
    return this.answer('app.accept_second_factor($1, $2, null, $3)', [userId, step, new Date(at)]);
  }

  /** Uses up a recovery code; of any number of uses at a time one answers true. */
  acceptRecoveryCode(userId: string, codeHash: string, at: number): Promise<boolean> {
    return this.answer('app.accept_second_factor($1, null, $2, $3)', [userId, codeHash, new Date(at)]);
  }

  renewRecoveryCodes(userId: string, codeHashes: string[]): Promise<boolean> {
    return this.answer('app.renew_recovery_codes($1, $2)', [userId, codeHashes]);
  }

  remove(userId: string): Promise<boolean> {
    return this.answer('app.remove_second_factor($1)', [userId]);
  }

  private async answer(call: string, values: readonly unknown[]): Promise<boolean> {
    const [row] = await this.db.query<{ done: boolean }>(`select ${call} as done`, values);
    return row!.done;
  }
}
