import { Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import { Approvals } from '../approvals/approvals.repository.js';
import type { RunnerFailed } from '../capos/briefing.js';
import { CAPOS } from '../capos/capo.js';
import { capoActor } from '../capos/capo-actor.js';
import type { Paid } from '../capos/paid.js';
import { Signals } from '../signals/signals.repository.js';
import { addCost, titleOf } from './directive.js';
import type { DirectiveEntity } from './directive.entity.js';
import { DirectiveTransitions } from './directive-transitions.js';
import { Directives } from './directives.repository.js';
import { waitBeforeRetry } from './draft-retries.js';
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
    private readonly approvals: Approvals,
    private readonly directives: Directives,
    private readonly endDirective: EndDirective,
    private readonly transitions: DirectiveTransitions,
    private readonly signals: Signals,
    private readonly logger: PinoLogger,
  ) {}

  /** Answers whether the directive was charged for the draft; it is not where nobody wants a draft of it any more. */
  async execute(item: WorkItem, failure: RunnerFailed, paid: Paid): Promise<boolean> {
    const { workspaceId, id } = item;
    const isWaiting = failure.code === 'model_budget_exceeded';
    const failures = item.failures + (isWaiting ? 0 : 1);
    const waitMs = waitBeforeRetry(failure, failures);
    const error: WorkError = { code: failure.code.toUpperCase(), message: failure.message };
    const isCharged = await this.db.transaction(scopeOfWork(item), async () => {
      const approval = await this.approvals.lockPending(workspaceId, id);
      const directive = await this.directives.lockDrafting(workspaceId, id);
      if (!directive) return false;
      // Tokens are paid for even when nothing usable came back.
      this.directives.chargeFailure(directive, addCost(directive.cost, paid.cost), error);
      this.transitions.noteUnused(directive, 'draft', error, paid);
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
      score: null,
      source: capoActor(capo!),
      teamId,
      capo,
      entity: { type: 'directive', id: directiveId },
    });
  }
}
