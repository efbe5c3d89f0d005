import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Guardians } from './guardians.repository.js';
import { HaltableWork } from './halting.js';
import { newRevert, PLAN_LINES, requireRevertible, type RevertOutcome, type WantedRevert } from './revert.js';
import { RevertProgress } from './revert-progress.js';
import { Reverts } from './reverts.repository.js';

/** Restores operation after a kill (mode `resume`): the mode before it, and exactly the halted work goes on. */
@Injectable()
export class ResumeWork {
  constructor(
    private readonly clock: Clock,
    private readonly guardians: Guardians,
    private readonly work: HaltableWork,
    private readonly reverts: Reverts,
    private readonly progress: RevertProgress,
    private readonly receipts: Receipts,
  ) {}

  /** @throws InvalidTransition when nothing was killed, or something else than the caller has seen */
  async execute(caller: Caller, wanted: WantedRevert): Promise<RevertOutcome> {
    const { workspaceId } = caller;
    const { reason, dryRun } = wanted;
    const by = actorOf(caller);
    const at = this.clock.now();
    const guardian = await this.guardians.lock(workspaceId);
    requireRevertible(guardian, wanted);
    if (guardian.mode !== 'killed')
      throw new InvalidTransition({ message: 'The kill switch is not engaged.' });
    const answer = { mode: 'resume', checkpointId: null, restored: null } as const;
    if (dryRun) {
      const halted = await this.work.halted(workspaceId);
      const plan = halted.slice(0, PLAN_LINES);
      return {
        ...answer,
        status: 'planned',
        revertId: null,
        plan,
        planTotal: halted.length,
        receiptId: null,
      };
    }
    const mode = guardian.modeBeforeKill!;
    const receiptId = newId('rcp');
    const killedAt = guardian.killedAt!;
    const resumed = await this.progress.liftKill(workspaceId, mode, { at, receiptId });
    const plan = resumed.slice(0, PLAN_LINES);
    const revertId = newId('rvt');
    this.reverts.add(
      newRevert({
        revertId,
        workspaceId,
        mode: 'resume',
        reason,
        plan,
        receiptId,
        by,
        at,
        killedAt,
        guardianEpoch: guardian.epoch,
      }),
    );
    this.receipts.append({
      receiptId,
      actor: by,
      action: 'guardian.reverted',
      entity: { type: 'revert', id: revertId },
      summary: `${caller.name} reverted the kill switch; the guardian is in the mode ${mode} again.`,
      details: { reason, mode: 'resume', resumed: resumed.length, killedAt },
      guardianEpoch: guardian.epoch,
    });
    return { ...answer, status: 'done', revertId, plan, planTotal: resumed.length, receiptId };
  }
}
