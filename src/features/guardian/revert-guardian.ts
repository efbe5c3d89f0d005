import { Injectable } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import { CompensateWork } from './compensate-work.js';
import { RestoreCheckpoint } from './restore-checkpoint.js';
import { ResumeWork } from './resume-work.js';
import type { RevertOutcome } from './new-revert.js';
import type { RevertAnswer, RevertBody } from './revert.dto.js';
import { UndoableWork } from './undoable-work.js';

/**
 * Goes back after a kill, in one of three ways (CONTRACT, Guardian): the work goes on; orders and settings are as they were, too;
 * or what was carried out is undone first.
 */
@Injectable()
export class RevertGuardian {
  constructor(
    private readonly db: Db,
    private readonly resumeWork: ResumeWork,
    private readonly restoreCheckpoint: RestoreCheckpoint,
    private readonly compensateWork: CompensateWork,
    private readonly undoable: UndoableWork,
  ) {}

  /**
   * @throws InvalidTransition when the guardian's mode does not allow it, ValidationFailed when there is no checkpoint, NotFound
   * for one that does not exist
   */
  async execute(caller: Caller, body: RevertBody): Promise<RevertAnswer> {
    await this.db.unit.seeWholeWorkspace();
    const outcome = await this.revert(caller, body);
    return { ...outcome, plan: await this.undoable.titled(scopeOf(caller), outcome.plan) };
  }

  private revert(caller: Caller, body: RevertBody): Promise<RevertOutcome> {
    const { mode = 'resume', dryRun = false, checkpointId, reason = null } = body;
    if (mode === 'resume') {
      if (checkpointId !== undefined) throw goesBackToNone();
      return this.resumeWork.execute(caller, { reason, dryRun });
    }
    const wanted = { reason, dryRun, checkpointId };
    return mode === 'restore'
      ? this.restoreCheckpoint.execute(caller, wanted)
      : this.compensateWork.execute(caller, wanted);
  }
}

function goesBackToNone() {
  const message = 'checkpointId is for the modes restore and compensate; resume goes back to no checkpoint';
  return new ValidationFailed({ details: [{ path: 'checkpointId', rule: 'forMode', message }] });
}
