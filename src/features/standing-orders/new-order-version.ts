import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { ActivationExamination, requireAcknowledgement } from './activation-examination.js';
import { isNoLooser } from './looseness.js';
import { columnsOfRule, type OrderContent, ruleOf } from './order-content.js';
import { type StandingOrderRule, tightens } from './standing-order.js';
import type { StandingOrderEntity } from './standing-order.entity.js';
import { receiptOf, viewOf } from './standing-order-view.js';
import type { StandingOrderView } from './standing-orders.dto.js';
import { StandingOrderRules } from './standing-order-rules.js';
import { StandingOrders } from './standing-orders.repository.js';
import { ThrottledWork } from './throttled-work.js';

/** How a version came about. */
interface Origin {
  act: 'revised' | 'rolled_back';
  /** The owner has said that they know what it lets out. */
  acknowledged: boolean;
  details?: Record<string, unknown>;
}

/**
 * Makes the next version of an order (docs/decisions/0016). In force, a version that lets nothing more through than the
 * former one applies at once; one that may let more through takes the rights, and passes the
 * check, of an order that is activated. Where it is refused, the former version stays in force.
 */
@Injectable()
export class NewOrderVersion {
  constructor(
    private readonly orders: StandingOrders,
    private readonly examination: ActivationExamination,
    private readonly rules: StandingOrderRules,
    private readonly throttled: ThrottledWork,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** @throws InvalidTransition, Forbidden, or SimulationRequired without the acknowledgement of an owner */
  async add(
    caller: Caller,
    order: StandingOrderEntity,
    { name, text, rule }: OrderContent,
    { act, acknowledged, details }: Origin,
  ): Promise<StandingOrderView> {
    const former = ruleOf(order);
    const isSameRule = canonicalJson(former) === canonicalJson(rule);
    if (isSameRule && name === order.name && text === order.text) return viewOf(order, caller);
    if (order.status === 'archived') {
      throw new InvalidTransition({ message: 'The standing order is archived; create a new one instead.' });
    }
    const isLooser = !isNoLooser(former, rule);
    requireRights(caller, former, rule, isLooser);

    const at = this.clock.now();
    const by = actorOf(caller);
    const next: StandingOrderEntity = {
      ...order,
      ...columnsOfRule(rule),
      name,
      text,
      version: order.version + 1,
      heldBecause: null,
      // What the former version would have done says nothing of this one.
      simulation: null,
      evalRunId: null,
      updatedAt: at,
    };
    const { version, receipt } = await this.examined(next, order.version, isLooser, acknowledged, caller);
    this.orders.saveVersion(version, order, { by, at });
    this.receipts.append(receiptOf(version, act, by, { rule, text, ...receipt, ...details }));
    await this.throttled.decideAgain();
    return { ...viewOf(version, caller), ...(await this.rules.warnings(version)) };
  }

  /**
   * A version that may let more through than the one in force takes effect like an order that is activated; one of a draft
   * says what its activation will take. Any other lets nothing through that was not let through before.
   */
  private async examined(
    next: StandingOrderEntity,
    current: number,
    isLooser: boolean,
    acknowledged: boolean,
    caller: Caller,
  ): Promise<{ version: StandingOrderEntity; receipt: Record<string, unknown> }> {
    const takesEffect = next.status === 'active' && isLooser;
    if (!takesEffect && next.status !== 'draft') return { version: next, receipt: { acknowledged: false } };
    const by = actorOf(caller);
    const examined = await this.examination.of(next, by, takesEffect ? current : next.version);
    if (!takesEffect) {
      const version = { ...examined.order, heldBecause: examined.heldBecause };
      return { version, receipt: { acknowledged: false, ...examined.details } };
    }
    requireAcknowledgement(examined, acknowledged, caller);
    await this.examination.beforeActivation();
    const receipt = { acknowledged: examined.heldBecause !== null, ...examined.details };
    return { version: examined.order, receipt };
  }
}

function requireRights(
  caller: Caller,
  former: StandingOrderRule,
  next: StandingOrderRule,
  isLooser: boolean,
): void {
  if (!tightens(former) || !tightens(next)) {
    const message = 'Only an admin may change a standing order that allows work packets.';
    requireRole(caller, former.teamId, 'admin', message);
  } else if (isLooser) {
    const message = 'Only an admin may change a standing order so that it may restrict less than before.';
    requireRole(caller, former.teamId, 'admin', message);
  }
}
