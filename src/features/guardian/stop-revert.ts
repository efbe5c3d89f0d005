import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/kernel/clock.js';
import { Work } from '../../platform/work/work.js';
import { COMPENSATE, END_REVERT } from './revert-progress.js';
import { Reverts } from './reverts.repository.js';

const REASON = 'The revert was stopped by the kill switch, and another one took its place.';

/**
 * Ends a revert that a kill stopped, when something else is wanted now. What it had begun with outside still says how that
 * ended.
 */
@Injectable()
export class StopRevert {
  constructor(
    private readonly clock: Clock,
    private readonly reverts: Reverts,
    private readonly work: Work,
  ) {}

  /** In the open transaction, which has locked the guardian; nothing when no revert was stopped. */
  async execute(workspaceId: string): Promise<void> {
    const revert = await this.reverts.lockRunning(workspaceId);
    if (!revert) return;
    const at = this.clock.now();
    this.work.cancelReturned(COMPENSATE, this.reverts.skipPlannedStatement(revert, REASON, at));
    this.work.cancel(END_REVERT, [revert.revertId]);
    this.work.unparkAll([COMPENSATE]);
    this.reverts.update(revert, { status: 'stopped', endedAt: at });
  }
}
