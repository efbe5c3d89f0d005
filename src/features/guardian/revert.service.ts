import { Injectable } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import type { PageQuery } from '../../platform/kernel/pages.dto.js';
import { CompensateWork } from './compensate-work.js';
import { Guardians } from './guardians.repository.js';
import type { RevertOutcome } from './revert.js';
import { RestoreCheckpoint } from './restore-checkpoint.js';
import { ResumeWork } from './resume-work.js';
import type { RevertAnswer, RevertBody, RevertStepView, RevertView } from './revert.dto.js';
import type { RevertStepEntity } from './revert.entity.js';
import { Reverts } from './reverts.repository.js';
import { UndoableWork } from './undoable-work.js';

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
