import { Injectable } from '@nestjs/common';
import type { Decision } from '../standing-orders/evaluate.js';
import type { DecisionOrder, RecordedInput } from '../standing-orders/decision-input.js';
import { isNearlySpent } from '../standing-orders/limits.js';
import { StandingOrderUses } from '../standing-orders/standing-order-uses.repository.js';
import { type FormerUse, type Usages, usesOf } from '../standing-orders/usages.js';
import { Signals } from '../signals/signals.repository.js';
import { GUARDIAN } from './guardian.js';

/** A work packet that goes by its decision, as standing orders count it. */
interface CountedPacket {
  input: RecordedInput;
  /** The orders that count it: those that matched, and those that are only tried out. */
  counting: readonly DecisionOrder[];
  warnings: readonly BudgetWarning[];
}

/** A budget of which, with this work packet, so much is used that somebody wanted to be told. */
export interface BudgetWarning {
  order: DecisionOrder;
  used: number;
}

/** What standing orders count of the work packets that go by them, and whom their budgets warn. */
@Injectable()
export class OrderUses {
  constructor(
    private readonly uses: StandingOrderUses,
    private readonly signals: Signals,
  ) {}

  /** What an order counted before does not count twice, but in the window in which the packet leaves. */
  record(
    { counting, input: { packet, at }, warnings }: CountedPacket,
    former: readonly FormerUse[] = [],
  ): void {
    for (const use of usesOf(counting, packet, at)) {
      const before = former.find(({ standingOrderId }) => standingOrderId === use.standingOrderId);
      if (!before) this.uses.recordUse(use);
      else if (!countsStill(before)) this.uses.renewUse(use);
    }
    for (const warning of warnings) this.warn(warning);
  }

  private warn({ order, used }: BudgetWarning): void {
    const { standingOrderId, name, teamId, budget } = order;
    const { amount, currency, window } = budget!;
    this.uses.recordWarning(standingOrderId);
    this.signals.raise({
      type: 'policy',
      severity: 'warning',
      title: `Budget nearly spent: ${name}`,
      body: `${used} of the ${amount} ${currency} that the standing order "${name}" may spend in this ${window} are used.`,
      score: null,
      source: GUARDIAN,
      teamId,
      capo: null,
      entity: { type: 'standing_order', id: standingOrderId },
    });
  }
}

/** The budgets that are nearly spent with this decision, and of which nobody was told in this window. */
export function budgetWarnings(
  { limits }: Pick<Decision, 'limits'>,
  matched: readonly DecisionOrder[],
  usages: Usages,
): BudgetWarning[] {
  const budgets = new Map(
    limits.filter(({ limit }) => limit === 'budget').map((budget) => [budget.standingOrderId, budget]),
  );
  return matched.flatMap((order) => {
    const spent = budgets.get(order.standingOrderId);
    const isDue = order.budget && spent && isNearlySpent(order.budget, spent.used);
    return isDue && usages.warn(order.standingOrderId) ? [{ order, used: spent.used }] : [];
  });
}

function countsStill({ inHour, inDay, today, inBudgetWindow }: FormerUse): boolean {
  return inHour && inDay && today && inBudgetWindow;
}
