import { Injectable } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { NewOrderVersion } from './new-order-version.js';
import { ruleOf } from './order-content.js';
import type { StandingOrderEntity } from './standing-order.entity.js';
import { type RuleOfBody, StandingOrderRules } from './standing-order-rules.js';
import type { ReviseStandingOrderBody, StandingOrderView } from './standing-orders.dto.js';
import { StandingOrders } from './standing-orders.repository.js';
import { requireVersionRead } from './version-read.js';

/** Changes what an order says, as its next version. */
@Injectable()
export class ReviseStandingOrder {
  constructor(
    private readonly orders: StandingOrders,
    private readonly rules: StandingOrderRules,
    private readonly newVersion: NewOrderVersion,
  ) {}

  /**
   * @param ifMatch the hash of what the caller has read
   * @throws NotFound, ValidationFailed, InvalidTransition, what {@link requireVersionRead} throws, or Forbidden for what the caller
   * may not loosen
   */
  async execute(
    caller: Caller,
    standingOrderId: string,
    { acknowledge, version, name, text, ...changes }: ReviseStandingOrderBody,
    ifMatch: string | null,
  ): Promise<StandingOrderView> {
    const order = await this.orders.lockWithDecisions(standingOrderId);
    requireRole(caller, order.teamId, 'operator');
    const acknowledged = acknowledge === true;
    requireVersionRead(order, { version, hash: ifMatch }, acknowledged);
    const rule = await this.rules.of(scopeOf(caller), order.teamId, {
      ...(ruleOf(order) as RuleOfBody),
      ...said(changes),
    });
    const newName = name ?? order.name;
    const content = { name: newName, text: textOf(order, newName, text), rule };
    return this.newVersion.add(caller, order, content, { act: 'revised', acknowledged });
  }
}

/** Without what was left out; null was said. */
function said<T extends object>(changes: T): Partial<T> {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** An order without words of its own is described by its name, whatever that becomes. */
function textOf(order: StandingOrderEntity, name: string, text: string | null | undefined): string {
  if (text === undefined) return order.text === order.name ? name : order.text;
  return text ?? name;
}
