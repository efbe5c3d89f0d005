import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition, ValidationFailed } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import type { PageQuery } from '../../platform/kernel/pages.dto.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { CompensateWork } from './compensate-work.js';
import { Guardians } from './guardians.repository.js';
import { HaltableWork } from './halting.js';
import { RestoreCheckpoint } from './restore-checkpoint.js';
import { RevertProgress } from './revert-progress.js';
import type { RevertAnswer, RevertBody, RevertStepView, RevertView } from './revert.dto.js';
import type { RevertStepEntity } from './guardian.entity.js';
import {
  newRevert,
  PLAN_LINES,
  requireRevertible,
  type RevertOutcome,
  UndoableWork,
  type WantedRevert,
} from './revert.js';
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

/**
 * Goes back after a kill, in one of three ways (CONTRACT, Guardian): the work goes on; orders and settings are as they were, too;
 * or what was carried out is undone first.
 */
@Injectable()
export class RevertService {
  constructor(
    private readonly db: Db,
    private readonly resumeWork: ResumeWork,
    private readonly restoreCheckpoint: RestoreCheckpoint,
    private readonly compensateWork: CompensateWork,
    private readonly undoable: UndoableWork,
    private readonly reverts: Reverts,
    private readonly guardians: Guardians,
  ) {}

  /**
   * @throws InvalidTransition when the guardian's mode does not allow it or it has another epoch, ValidationFailed when there is no checkpoint, NotFound
   * for one that does not exist
   */
  async revert(caller: Caller, body: RevertBody): Promise<RevertAnswer> {
    await this.db.unit.seeWholeWorkspace();
    const outcome = await this.inMode(caller, body);
    return { ...outcome, plan: await this.undoable.titled(scopeOf(caller), outcome.plan) };
  }

  /**
   * How far a revert has come.
   * @throws NotFound
   */
  async read(scope: Scope, revertId: string, query: PageQuery): Promise<RevertView> {
    const revert = await this.reverts.get(scope, revertId);
    const [{ mode }, counts, steps] = await Promise.all([
      this.guardians.read(scope),
      this.reverts.counts(scope, revert),
      this.reverts.pageOfSteps(scope, revertId, query),
    ]);
    // The undo of one work packet, or of one that failed before, needs no kill: its revert is over but for the step itself.
    const isUndoing = revert.status === 'done' && counts.planned > 0;
    const status = isUndoing ? 'running' : revert.status;
    return {
      revertId,
      mode: revert.mode,
      // A kill stops it by its mode alone, so that the kill has nothing more to write.
      status: status === 'running' && mode === 'killed' ? 'stopped' : status,
      reason: revert.reason,
      checkpointId: revert.checkpointId,
      createdBy: revert.createdBy,
      createdAt: revert.createdAt,
      endedAt: isUndoing ? null : revert.endedAt,
      receiptId: revert.receiptId,
      counts,
      steps: { ...steps, items: await this.undoable.titled(scope, steps.items.map(stepOf)) },
    };
  }

  private inMode(caller: Caller, body: RevertBody): Promise<RevertOutcome> {
    const { mode = 'resume', dryRun = false, checkpointId, reason = null, epoch } = body;
    const wanted = { reason, dryRun, checkpointId, epoch };
    if (mode === 'resume') {
      if (checkpointId !== undefined) throw goesBackToNone();
      return this.resumeWork.execute(caller, wanted);
    }
    return mode === 'restore'
      ? this.restoreCheckpoint.execute(caller, wanted)
      : this.compensateWork.execute(caller, wanted);
  }
}

function goesBackToNone() {
  const message = 'checkpointId is for the modes restore and compensate; resume goes back to no checkpoint';
  return new ValidationFailed({ details: [{ path: 'checkpointId', rule: 'forMode', message }] });
}

function stepOf(step: RevertStepEntity): Omit<RevertStepView, 'title'> {
  return {
    position: step.position,
    workPacketId: step.workPacketId,
    reversibility: step.reversibility,
    compensation: step.compensation,
    status: step.status,
    reason: step.reason,
    result: step.result,
    attempts: step.attempts,
    endedAt: step.endedAt,
    receiptId: step.receiptId,
  };
}
