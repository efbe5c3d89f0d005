import { Injectable } from '@nestjs/common';
import { Work } from '../../platform/work/work.js';
import type { RevertEntity } from './revert.entity.js';
import { Reverts } from './reverts.repository.js';

/** The work of undoing one work packet. */
export const COMPENSATE = 'packet.compensate';
/** The work of ending a revert whose steps have all ended. */
export const END_REVERT = 'revert.end';

/** Takes a revert on from step to step: one at a time is due, the newest of those that are left. */
@Injectable()
export class RevertProgress {
  constructor(
    private readonly reverts: Reverts,
    private readonly work: Work,
  ) {}

  /** Makes the next step due, or the end; in the open transaction, after what the last step wrote. */
  async enqueueNextStep(revert: Pick<RevertEntity, 'workspaceId' | 'revertId'>): Promise<void> {
    const next = await this.reverts.nextPlanned(revert);
    if (next === undefined) this.work.enqueue(END_REVERT, { id: revert.revertId });
    else this.work.enqueue(COMPENSATE, { id: next });
  }
}
