import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import type { RevertAnswer, RevertBody } from './guardian.dto.js';
import { Guardians } from './guardians.repository.js';
import { HaltableWork } from './halting.js';

/** Restores operation after a kill (mode `resume`): the mode before it, and exactly the halted work goes on. */
@Injectable()
export class RevertKill {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly guardians: Guardians,
    private readonly work: HaltableWork,
    private readonly receipts: Receipts,
  ) {}

  /** @throws InvalidTransition when nothing was killed */
  async execute(caller: Caller, body: RevertBody): Promise<RevertAnswer> {
    const { workspaceId } = caller;
    await this.db.unit.seeWholeWorkspace();
    const at = this.clock.now();
    const lifted = await this.guardians.lift(workspaceId);
    if (!lifted) throw new InvalidTransition({ message: 'The kill switch is not engaged.' });
    const receiptId = newId('rcp');
    const plan = await this.work.resume(workspaceId, { at, receiptId, killedAt: lifted.killedAt! });
    const revertId = newId('rvt');
    const reason = body.reason ?? null;
    this.guardians.recordRevert({
      revertId,
      workspaceId,
      mode: 'resume',
      reason,
      plan,
      createdBy: actorOf(caller),
      createdAt: at,
    });
    this.receipts.append({
      receiptId,
      actor: actorOf(caller),
      action: 'guardian.reverted',
      entity: { type: 'revert', id: revertId },
      summary: `${caller.name} reverted the kill switch; the guardian is in the mode ${lifted.mode} again.`,
      details: { reason, mode: 'resume', resumed: plan.length, killedAt: lifted.killedAt },
      guardianEpoch: lifted.epoch,
    });
    return { revertId, mode: 'resume', plan, receiptId };
  }
}
