import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SYSTEM } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { type WorkError, type WorkItem, scopeOfWork } from '../../platform/work/work-item.js';
import { Work } from '../../platform/work/work.js';
import { Signals } from '../records/index.js';
import { type GuardianMode, TELL_MEMBERS } from '../terms/index.js';
import { Guardians } from './guardians.repository.js';
import { type GuardianAct, HaltableWork, type ResumedPacket } from './halting.js';
import type { RevertEntity } from './guardian.entity.js';
import { Reverts } from './reverts.repository.js';

/** The work of undoing one work packet. */
export const COMPENSATE = 'packet.compensate';
/** The work of ending a revert whose steps have all ended. */
const END_REVERT = 'revert.end';

const STOPPED = 'The revert was stopped by the kill switch, and another one took its place.';

/** Takes a revert from step to step, one at a time, the newest first, and ends it, or the kill that it follows. */
@Injectable()
export class RevertProgress implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly work: Work,
    private readonly guardians: Guardians,
    private readonly haltable: HaltableWork,
    private readonly reverts: Reverts,
    private readonly receipts: Receipts,
    private readonly signals: Signals,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: END_REVERT,
      pool: 2,
      perQueue: 1,
      tries: 5,
      run: (item) => this.runEnd(item),
      giveUp: (item, error) => this.giveUp(item, error),
    });
  }

  /** Makes the next step due, or the end; in the open transaction, after what the last step wrote. */
  async enqueueNextStep(revert: Pick<RevertEntity, 'workspaceId' | 'revertId'>): Promise<void> {
    const next = await this.reverts.nextPlanned(revert);
    if (next === undefined) this.work.enqueue(END_REVERT, { id: revert.revertId });
    else this.work.enqueue(COMPENSATE, { id: next });
  }

  /**
   * Ends a revert that a kill stopped, when something else is wanted now; nothing when none was stopped. What it had begun with
   * outside still says how that ended. In the open transaction, which has locked the guardian.
   */
  async stop(workspaceId: string): Promise<void> {
    const revert = await this.reverts.lockRunning(workspaceId);
    if (!revert) return;
    const at = this.clock.now();
    this.work.cancelReturned(COMPENSATE, this.reverts.skipPlannedStatement(revert, STOPPED, at));
    this.work.cancel(END_REVERT, [revert.revertId]);
    this.work.unparkAll([COMPENSATE]);
    this.reverts.update(revert, { status: 'stopped', endedAt: at });
  }

  /**
   * Lets everything go on that a kill has halted, and answers the work packets that go on. A revert that the kill had stopped is
   * over. In the open transaction, which has locked the guardian.
   */
  async liftKill(workspaceId: string, mode: GuardianMode, act: GuardianAct): Promise<ResumedPacket[]> {
    await this.stop(workspaceId);
    // Before the guardian forgets since when the clocks stand still.
    const resumed = await this.haltable.resume(workspaceId, act);
    this.guardians.leaveHalt(workspaceId, mode);
    this.work.enqueue(TELL_MEMBERS, { id: act.receiptId });
    return resumed;
  }

  /**
   * Ends a revert whose steps have all ended: the mode is the one before the kill again, and what was halted goes on. In the open
   * transaction, which has locked the guardian.
   */
  async end(revert: RevertEntity): Promise<void> {
    const { workspaceId, revertId, checkpointId, killedAt } = revert;
    const at = this.clock.now();
    const receiptId = newId('rcp');
    const { modeBeforeKill, epoch } = await this.guardians.lock(workspaceId);
    const mode = modeBeforeKill!;
    this.reverts.update(revert, { status: 'done', endedAt: at });
    const counts = await this.reverts.counts(this.db.unit.scope, revert);
    await this.liftKill(workspaceId, mode, { at, receiptId });
    const left = counts.failed + counts.not_possible;
    this.receipts.append({
      receiptId,
      actor: SYSTEM,
      action: 'guardian.reverted',
      entity: { type: 'revert', id: revertId },
      summary: `${counts.done} work ${counts.done === 1 ? 'packet was' : 'packets were'} undone${left > 0 ? `, ${left} could not be` : ''}; the guardian is in the mode ${mode} again.`,
      details: { mode: 'compensate', checkpointId, killedAt, steps: counts },
      guardianEpoch: epoch,
    });
  }

  private async runEnd(item: WorkItem): Promise<void> {
    await this.db.transaction(scopeOfWork(item), async () => {
      const guardian = await this.guardians.lock(item.workspaceId);
      const revert = await this.reverts.lockRunning(item.workspaceId);
      this.work.complete(item);
      // A second kill has stopped it; the next revert ends it.
      if (guardian.mode !== 'recovering' || revert?.revertId !== item.id) return;
      await this.end(revert);
    });
  }

  private giveUp({ id }: WorkItem, { message }: WorkError): Promise<void> {
    this.signals.raise({
      type: 'policy',
      severity: 'critical',
      title: 'A revert could not be ended',
      body: `Everything has been undone, but the guardian is still recovering. Engage the kill switch, then revert again. ${message}`,
      teamId: null,
      entity: { type: 'revert', id },
    });
    return Promise.resolve();
  }
}
