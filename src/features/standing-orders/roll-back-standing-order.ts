import { Injectable } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Clock } from '../../platform/kernel/clock.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import { NewOrderVersion } from './new-order-version.js';
import { type RuleColumns, ruleOf } from './order-content.js';
import { type RuleOfBody, StandingOrderRules } from './standing-order-rules.js';
import type { RollBackStandingOrderBody, StandingOrderView } from './standing-orders.dto.js';
import { StandingOrders } from './standing-orders.repository.js';
import { requireHash } from './version-read.js';

/** Makes a further version of an order, with what one of its former versions said. */
@Injectable()
export class RollBackStandingOrder {
  constructor(
    private readonly orders: StandingOrders,
    private readonly rules: StandingOrderRules,
    private readonly newVersion: NewOrderVersion,
    private readonly clock: Clock,
  ) {}

  /**
   * @param ifMatch the hash of the order as the caller has read it
   * @throws NotFound, ValidationFailed, InvalidTransition, ContentChanged, or Forbidden for what the caller may not loosen
   */
  async execute(
    caller: Caller,
    standingOrderId: string,
    { version, acknowledge }: RollBackStandingOrderBody,
    ifMatch: string | null,
  ): Promise<StandingOrderView> {
    const order = await this.orders.lockWithDecisions(standingOrderId);
    requireRole(caller, order.teamId, 'operator');
    // The body names what an owner acknowledges: a version never changes.
    requireHash(order, ifMatch);
    const former = await this.orders.findVersion(order, version);
    if (!former)
      throw invalidVersion('exists', `the order has no version ${version}; its last is ${order.version}`);
    this.requireUnexpired(former, version);
    const rule = await this.rules.of(scopeOf(caller), order.teamId, ruleOf(former) as RuleOfBody);
    const { name, text } = former;
    return this.newVersion.add(
      caller,
      order,
      { name, text, rule },
      { act: 'rolled_back', acknowledged: acknowledge === true, details: { rolledBackTo: version } },
    );
  }

  private requireUnexpired({ expiresAt }: RuleColumns, version: number): void {
    if (expiresAt === null || expiresAt > this.clock.now()) return;
    const since = new Date(expiresAt).toISOString();
    const message = `version ${version} expired at ${since}; change the order instead, with another expiresAt`;
    throw invalidVersion('isUnexpired', message);
  }
}

function invalidVersion(rule: string, message: string) {
  return new ValidationFailed({ details: [{ path: 'version', rule, message }] });
}
