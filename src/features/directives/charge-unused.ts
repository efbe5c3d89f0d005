import { Injectable } from '@nestjs/common';
import { isLateResult } from '../../platform/database/database-errors.js';
import { Db } from '../../platform/database/db.js';
import { Unavailable } from '../../platform/kernel/errors.js';
import { throughOutage } from '../../platform/work/through-outage.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import { type Paid, isPaid } from '../capos/index.js';
import { addCost } from './directive.js';
import type { DirectiveEntity } from './directive.entity.js';
import { DirectiveTransitions, type PaidFor } from './directive-transitions.js';
import { Directives } from './directives.repository.js';

const OVERTAKEN: WorkError = {
  code: 'NOT_NEEDED',
  message: 'The directive was halted, had ended, or was given to another attempt meanwhile.',
};

/**
 * A model is paid when it answers, whatever becomes of the answer. What is not charged to the directive where its answer is used is
 * charged here: of an attempt that was stopped, came too late, or failed.
 */
@Injectable()
export class ChargeUnused {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly directives: Directives,
    private readonly transitions: DirectiveTransitions,
  ) {}

  /** Does what uses the answer, and answers whether it was charged; what it was not charged for is charged apart. */
  async after(item: WorkItem, paidFor: PaidFor, paid: Paid, use: () => Promise<boolean>): Promise<void> {
    let isCharged: boolean;
    try {
      isCharged = await use();
    } catch (error) {
      if (isLateResult(error)) await this.execute(item, paidFor, paid);
      else await this.afterFailure(item, paidFor, paid, error);
      throw error;
    }
    if (!isCharged) await this.execute(item, paidFor, paid);
  }

  /** Charges what was paid before work failed with an error that nobody foresaw; not where its transaction did commit. */
  async afterFailure(item: WorkItem, paidFor: PaidFor, paid: Paid, error: unknown): Promise<void> {
    const reason = error instanceof Unavailable ? 'The database was away.' : 'An unexpected error occurred.';
    try {
      await this.charge(item, paidFor, paid, { code: 'UNEXPECTED', message: reason }, true);
    } catch (late) {
      if (!isLateResult(late)) throw late;
    }
  }

  /** Charges an answer of which nothing can be used to its directive, which the open transaction has locked, and says there why. */
  forFailure(directive: DirectiveEntity, paidFor: PaidFor, paid: Paid, why: WorkError): void {
    this.directives.chargeFailure(directive, addCost(directive.cost, paid.cost), why);
    this.transitions.noteUnused(directive, paidFor, why, paid);
  }

  /** Charges an answer that nothing becomes of. */
  execute(item: WorkItem, paidFor: PaidFor, paid: Paid, why = OVERTAKEN): Promise<void> {
    return this.charge(item, paidFor, paid, why, false);
  }

  private async charge(
    item: WorkItem,
    paidFor: PaidFor,
    paid: Paid,
    why: WorkError,
    onlyOfThisAttempt: boolean,
  ): Promise<void> {
    if (!isPaid(paid)) return;
    const { workspaceId, id } = item;
    await throughOutage(() =>
      this.db.transaction(scopeOfWork(item), async () => {
        if (onlyOfThisAttempt) this.work.check(item);
        const directive = await this.directives.lock(workspaceId, id);
        if (!directive) return;
        this.directives.update(directive, { cost: addCost(directive.cost, paid.cost) });
        this.transitions.noteUnused(directive, paidFor, why, paid);
      }),
    );
  }
}
