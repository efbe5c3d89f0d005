import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition, ValidationFailed } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { ActionReversibility } from './action-reversibility.js';
import { isNoLooser } from './looseness.js';
import { columnsOfRule, type OrderContent, ruleOf } from './order-content.js';
import { relaxesIrreversible, type StandingOrderRule, tightens } from './standing-order.js';
import type { StandingOrderEntity } from './standing-order.entity.js';
import { receiptOf, viewOf } from './standing-order-view.js';
import type { StandingOrderView } from './standing-orders.dto.js';
import { StandingOrders } from './standing-orders.repository.js';
import { ThrottledWork } from './throttled-work.js';

const HELD =
  'It allows work packets that cannot be undone, so an owner must activate it with acknowledge: true.';

/** How a version came about. */
interface Origin {
  act: 'revised' | 'rolled_back';
  /** The owner has said that they know what it lets out. */
  acknowledged: boolean;
  details?: Record<string, unknown>;
}

/**
 * Makes the next version of an order (docs/decisions/0016). In force, a version that lets nothing more through than the
 * former one applies at once, whoever may write such orders; one that may let more through takes the rights, and passes the
 * check, of an order that is activated. Where it is refused, the former version stays in force.
 */
@Injectable()
export class NewOrderVersion {
  constructor(
    private readonly orders: StandingOrders,
    private readonly reversibility: ActionReversibility,
    private readonly throttled: ThrottledWork,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** @throws InvalidTransition, Forbidden, or ValidationFailed without the acknowledgement */
  async add(
    caller: Caller,
    order: StandingOrderEntity,
    { name, text, rule }: OrderContent,
    { act, acknowledged, details }: Origin,
  ): Promise<StandingOrderView> {
    const former = ruleOf(order);
    const isSameRule = canonicalJson(former) === canonicalJson(rule);
    if (isSameRule && name === order.name && text === order.text) return viewOf(order);
    if (order.status === 'archived') {
      throw new InvalidTransition({ message: 'The standing order is archived; create a new one instead.' });
    }
    const isLooser = !isNoLooser(former, rule);
    const relaxes = relaxesIrreversible(rule, this.reversibility.within(rule.capos));
    requireRights(caller, former, rule, isLooser);
    const needsOwner = order.status === 'active' && isLooser && relaxes;
    if (needsOwner) requireAcknowledgement(caller, order, acknowledged);

    const at = this.clock.now();
    const next: StandingOrderEntity = {
      ...order,
      ...columnsOfRule(rule),
      name,
      text,
      version: order.version + 1,
      heldBecause: order.status === 'draft' && relaxes ? HELD : null,
      updatedAt: at,
    };
    this.orders.saveVersion(next, order, { by: actorOf(caller), at });
    this.receipts.append(
      receiptOf(next, act, actorOf(caller), { rule, text, acknowledged: needsOwner, ...details }),
    );
    await this.throttled.decideAgain();
    return viewOf(next);
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

function requireAcknowledgement(
  caller: Caller,
  { teamId }: StandingOrderEntity,
  acknowledged: boolean,
): void {
  const message =
    'The new version may allow more work packets that cannot be undone, so only an owner may make it.';
  requireRole(caller, teamId, 'owner', message);
  if (acknowledged) return;
  const fault = 'the new version may allow more work packets that cannot be undone: acknowledge must be true';
  throw new ValidationFailed({ details: [{ path: 'acknowledge', rule: 'equals', message: fault }] });
}
