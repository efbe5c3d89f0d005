import { Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import { CAPOS, type Paid, RunnerFailed, capoActor, paidBefore } from '../capos/index.js';
import { Signals } from '../records/index.js';
import { ChargeUnused } from './charge-unused.js';
import { titleOf } from './directive.js';
import type { DirectiveEntity } from './directive.entity.js';
import { waitBeforeRetry } from './draft-retries.js';
import { DueDrafts } from './due-drafts.repository.js';
import { EndDirective } from './end-directive.js';

/**
 * What becomes of a draft that could not be made: it is tried again later, without a slot or a connection in between, or
 * the directive fails. Either way the reason stands with the directive and its approval.
 */
@Injectable()
export class RecordDraftFailure {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly work: Work,
    private readonly drafts: DueDrafts,
    private readonly chargeUnused: ChargeUnused,
    private readonly endDirective: EndDirective,
    private readonly signals: Signals,
    private readonly logger: PinoLogger,
  ) {}

  /** @throws the error itself, where it is not one with which a runner says that it failed */
  async execute(item: WorkItem, error: unknown): Promise<void> {
    const paid = paidBefore(error);
    if (!(error instanceof RunnerFailed)) {
      await this.chargeUnused.afterFailure(item, 'draft', paid, error);
      throw error;
    }
    if (error.code === 'aborted') {
      await this.chargeUnused.execute(item, 'draft', paid);
      await this.callOff(item);
    } else {
      await this.chargeUnused.after(item, 'draft', paid, () => this.record(item, error, paid));
    }
  }

  /**
   * A kill or another claim has voided the attempt and handles the rest. A message of a kill
   * that was lifted before this attempt began voids nothing: then the draft is made again.
   */
  private async callOff(item: WorkItem): Promise<void> {
    await this.db.transaction(scopeOfWork(item), async () => this.work.reschedule(item, 0));
  }

  /** Answers whether the directive was charged for the draft; it is not where nobody wants a draft of it any more. */
  private async record(item: WorkItem, failure: RunnerFailed, paid: Paid): Promise<boolean> {
    const { workspaceId, id } = item;
    const isWaiting = failure.code === 'model_budget_exceeded';
    const failures = item.failures + (isWaiting ? 0 : 1);
    const waitMs = waitBeforeRetry(failure, failures);
    const error: WorkError = { code: failure.code.toUpperCase(), message: failure.message };
    const isCharged = await this.db.transaction(scopeOfWork(item), async () => {
      const { approval, directive } = await this.drafts.lockWithApproval(item);
      if (!directive) return false;
      // Tokens are paid for even when nothing usable came back.
      this.chargeUnused.forFailure(directive, 'draft', paid, error);
      if (waitMs === undefined) {
        this.endDirective.giveUp(directive, approval, error);
        this.work.complete(item);
        return true;
      }
      if (failures === 2 && !isWaiting) this.warn(directive, error, waitMs);
      this.work.reschedule(item, waitMs, error, isWaiting ? 0 : 1);
      return true;
    });
    // Not the message: it may quote the directive.
    this.logger.warn(
      { directiveId: id, workspaceId, code: error.code, attempt: failures, waitMs },
      waitMs === undefined ? 'a draft was given up' : 'a draft waits for its next attempt',
    );
    return isCharged;
  }

  /** Once, when it has failed a second time: the first may have been chance. */
  private warn(directive: DirectiveEntity, error: WorkError, waitMs: number): void {
    const { capo, teamId, directiveId } = directive;
    const nextAt = new Date(this.clock.now() + waitMs).toISOString();
    this.signals.raise({
      type: 'agent',
      severity: 'warning',
      title: `${CAPOS[capo!].name} cannot draft just now: ${titleOf(directive.text)}`,
      body: `${error.message} It failed twice; the next attempt begins at ${nextAt}.`,
      source: capoActor(capo!),
      teamId,
      capo,
      entity: { type: 'directive', id: directiveId },
    });
  }
}
