import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SYSTEM } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import { Signals } from '../records/index.js';
import { Guardians } from './guardians.repository.js';
import { LiftKill } from './lift-kill.js';
import type { RevertEntity } from './revert.entity.js';
import { END_REVERT } from './revert-progress.js';
import { Reverts } from './reverts.repository.js';

/** Ends a revert whose steps have all ended: the mode is the one before the kill again, and what was halted goes on. */
@Injectable()
export class EndRevert implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly work: Work,
    private readonly guardians: Guardians,
    private readonly reverts: Reverts,
    private readonly liftKill: LiftKill,
    private readonly receipts: Receipts,
    private readonly signals: Signals,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: END_REVERT,
      pool: 2,
      perQueue: 1,
      tries: 5,
      run: (item) => this.execute(item),
      giveUp: (item, error) => this.giveUp(item, error),
    });
  }

  private async execute(item: WorkItem): Promise<void> {
    await this.db.transaction(scopeOfWork(item), async () => {
      const guardian = await this.guardians.lock(item.workspaceId);
      const revert = await this.reverts.lockRunning(item.workspaceId);
      this.work.complete(item);
      // A second kill has stopped it; the next revert ends it.
      if (guardian.mode !== 'recovering' || revert?.revertId !== item.id) return;
      await this.end(revert);
    });
  }

  /** In the open transaction, which has locked the guardian. */
  async end(revert: RevertEntity): Promise<void> {
    const { workspaceId, revertId, checkpointId, killedAt } = revert;
    const at = this.clock.now();
    const receiptId = newId('rcp');
    const { modeBeforeKill, epoch } = await this.guardians.lock(workspaceId);
    const mode = modeBeforeKill!;
    this.reverts.update(revert, { status: 'done', endedAt: at });
    const counts = await this.reverts.counts(this.db.unit.scope, revert);
    await this.liftKill.execute(workspaceId, mode, { at, receiptId });
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

  private giveUp({ id }: WorkItem, { message }: WorkError): Promise<void> {
    this.signals.raise({
      type: 'policy',
      severity: 'critical',
      title: 'A revert could not be ended',
      body: `Everything has been undone, but the guardian is still recovering. Engage the kill switch, then revert again. ${message}`,
      score: null,
      source: SYSTEM,
      teamId: null,
      capo: null,
      entity: { type: 'revert', id },
    });
    return Promise.resolve();
  }
}
