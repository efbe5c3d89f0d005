import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { PageQuery } from '../../platform/kernel/pages.dto.js';
import { Guardians } from './guardians.repository.js';
import type { RevertStepView, RevertView } from './revert.dto.js';
import type { RevertStepEntity } from './revert.entity.js';
import { Reverts } from './reverts.repository.js';
import { UndoableWork } from './undoable-work.js';

/** How far a revert has come. */
@Injectable()
export class ReadRevert {
  constructor(
    private readonly reverts: Reverts,
    private readonly guardians: Guardians,
    private readonly undoable: UndoableWork,
  ) {}

  /** @throws NotFound */
  async execute(scope: Scope, revertId: string, query: PageQuery): Promise<RevertView> {
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
