import { Injectable } from '@nestjs/common';
import {
  type Decision,
  type DecisionOrder,
  type GivenBack,
  type RecordedInput,
  StandingOrderUses,
  type Usages,
  isNearlySpent,
  useOf,
} from '../standing-orders/index.js';
import { Signals } from '../records/index.js';
import { GUARDIAN } from './guardian.js';

/** A work packet that goes by its decision, as standing orders count it. */
interface CountedPacket {
  input: RecordedInput;
  /** The orders that count it: those that matched, and those that are only tried out. */
  counting: readonly DecisionOrder[];
  warnings: readonly BudgetWarning[];
  unsettled: readonly string[];
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

  /** Decisions are locked. */
  record({ counting, input: { packet, at }, warnings, unsettled }: CountedPacket): void {
    const ids = counting.map(({ standingOrderId }) => standingOrderId);
    if (ids.length > 0) this.uses.recordUses(ids, packet.workPacketId!, useOf(packet, at), unsettled);
    for (const warning of warnings) this.warn(warning);
  }

  /**
   * Work packets end that certainly were not sent, or wait for a person: what orders counted of them is given back. Answers what
   * the receipt of that end has to tell. The open transaction has locked their directive, as every decision does before it.
   */
  async giveBack(workPacketIds: readonly string[]): Promise<{ givenBack?: GivenBack[] }> {
    if (workPacketIds.length === 0) return {};
    const givenBack = await this.uses.giveBack(workPacketIds);
    return givenBack.length > 0 ? { givenBack } : {};
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
      source: GUARDIAN,
      teamId,
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
    return isDue && usages.warn(order) ? [{ order, used: spent.used }] : [];
  });
}
