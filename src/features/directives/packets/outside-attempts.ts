import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { throughOutage } from '../../../platform/work/through-outage.js';
import { scopeOfWork, type WorkItem } from '../../../platform/work/work-item.js';
import type { ActionResult } from '../../capos/action-types.js';
import { asEffectFailed, EffectFailed } from './packet-effect.js';

const TIMEOUT_MS = 30_000;

/** What leaves the program, once the transaction that marked it as begun has committed. */
export interface Outgoing {
  run(signal: AbortSignal): Promise<ActionResult>;
  /** Records that it took effect. */
  succeed(result: ActionResult): Promise<void>;
}

/** One attempt; each of these runs in a transaction of its own, but for {@link Outgoing.run}, which runs in none. */
export interface OutsideAttempt {
  /**
   * Marks it as begun, or does all of it where nothing has to leave the program; then nothing is answered.
   * @throws EffectFailed when it may not begin or did not take effect; what was written until then is rolled back
   */
  begin(): Promise<Outgoing | undefined>;
  /**
   * Records that it did not take effect, or that nobody here can tell.
   * @param calledOff a kill has called it off, or the work is another attempt's by now
   */
  fail(failure: EffectFailed, calledOff: boolean): Promise<void>;
}

/**
 * Makes one attempt at something outside: a work packet, or the undo of one. That it begins is committed before anything
 * leaves, so a crash can never make it look as if nothing had; and how it ended is known to this process alone, so it is
 * written however long the database is away.
 */
@Injectable()
export class OutsideAttempts {
  constructor(private readonly db: Db) {}

  async make(item: WorkItem, signal: AbortSignal, attempt: OutsideAttempt): Promise<void> {
    const scope = scopeOfWork(item);
    let outgoing: Outgoing | undefined;
    try {
      outgoing = await this.db.transaction(scope, () => attempt.begin());
    } catch (error) {
      // What it had written is rolled back with the rest, so the failure is recorded by itself.
      if (!(error instanceof EffectFailed)) throw error;
      await this.db.transaction(scope, () => attempt.fail(error, false));
    }
    if (outgoing) await this.send(item, signal, outgoing, attempt);
  }

  private async send(
    item: WorkItem,
    signal: AbortSignal,
    outgoing: Outgoing,
    attempt: OutsideAttempt,
  ): Promise<void> {
    const scope = scopeOfWork(item);
    let result: ActionResult;
    try {
      result = await outgoing.run(AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]));
    } catch (error) {
      const failure = asEffectFailed(error);
      await throughOutage(() => this.db.transaction(scope, () => attempt.fail(failure, signal.aborted)));
      return;
    }
    await throughOutage(() => this.db.transaction(scope, () => outgoing.succeed(result)));
  }
}
