import { Injectable } from '@nestjs/common';
import { isLateResult, isUnforeseen } from '../../../platform/database/database-errors.js';
import { Db } from '../../../platform/database/db.js';
import { throughOutage } from '../../../platform/work/through-outage.js';
import { scopeOfWork, type WorkItem } from '../../../platform/work/work-item.js';
import type { ActionResult } from '../../capos/index.js';
import { asEffectFailed, EffectFailed, type Outcome, type RecipientOutcome } from './packet-effect.js';
import { WorkPackets } from './work-packets.repository.js';

const TIMEOUT_MS = 30_000;

/** What leaves the program, once the transaction that marked it as begun has committed. */
export interface Outgoing {
  /** Names the attempt, with the work packet: its number, and the revert whose undo it is. */
  attempt: number;
  revertId?: string;
  run: (signal: AbortSignal) => Promise<ActionResult>;
  /**
   * What {@link ended} writes, without a look at what it depends on: that fails (see isUnforeseen) where it has changed.
   * Undefined where it cannot be foreseen.
   */
  foreseen?: (outcome: Outcome) => (() => Promise<void>) | undefined;
  /**
   * Writes what follows, while the work is this attempt's.
   * @param calledOff a kill has called it off
   */
  ended: (outcome: Outcome, calledOff: boolean) => Promise<void>;
  /** Writes what follows where the work is another attempt's by now, or nobody's; it begins nothing. */
  endedLate: (outcome: Outcome) => Promise<void>;
}

/** One attempt; each of these runs in a transaction of its own. */
interface OutsideAttempt {
  /**
   * Marks it as begun, or does all of it where nothing has to leave the program; then nothing is answered.
   * @throws EffectFailed when it may not begin or did not take effect; what was written until then is rolled back
   */
  begin(): Promise<Outgoing | undefined>;
  /** Records why it did not begin. */
  refuse(failure: EffectFailed): Promise<void>;
}

/**
 * Makes one attempt at something outside: a work packet, or the undo of one. That it begins is committed before anything
 * leaves, so a crash can never make it look as if nothing had. How it ended is known to this process alone: it is written,
 * with what follows from it, whichever attempt has the work by then, and however long the database takes no writes.
 */
@Injectable()
export class OutsideAttempts {
  constructor(
    private readonly db: Db,
    private readonly packets: WorkPackets,
  ) {}

  async make(item: WorkItem, signal: AbortSignal, attempt: OutsideAttempt): Promise<void> {
    const scope = scopeOfWork(item);
    let outgoing: Outgoing | undefined;
    try {
      outgoing = await this.db.transaction(scope, async () => {
        const begun = await attempt.begin();
        if (begun) this.packets.addAttempt(item, begun, null);
        return begun;
      });
    } catch (error) {
      // What it had written is rolled back with the rest, so the failure is recorded by itself.
      if (!(error instanceof EffectFailed)) throw error;
      await this.db.transaction(scope, () => attempt.refuse(error));
    }
    if (!outgoing) return;
    const { foreseen, ended, endedLate, run } = outgoing;
    const outcome = await outcomeOf(run, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]));
    const record = (follow: () => Promise<void>) =>
      throughOutage(() =>
        this.db.transaction(scope, async () => {
          this.packets.addAttempt(item, outgoing, outcome);
          await follow();
        }),
      );
    try {
      const follow = foreseen?.(outcome);
      if (follow && (await asForeseen(() => record(follow)))) return;
      await record(() => ended(outcome, signal.aborted));
    } catch (error) {
      if (isLateResult(error)) {
        await record(() => endedLate(outcome));
        return;
      }
      // What keeps it from being followed must not keep it from being known: the next attempt goes on from the row.
      await record(async () => undefined);
      throw error;
    }
  }
}

/** Answers whether it was. */
async function asForeseen(write: () => Promise<void>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (isUnforeseen(error)) return false;
    throw error;
  }
}

async function outcomeOf(run: Outgoing['run'], signal: AbortSignal): Promise<Outcome> {
  try {
    const { recipients, ...result } = await run(signal);
    return { result, ...(recipients !== undefined && { recipients: recipients as RecipientOutcome[] }) };
  } catch (error) {
    return asEffectFailed(error).outcome;
  }
}
