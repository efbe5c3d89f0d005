import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition, ValidationFailed } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { ActivationExamination, requireAcknowledgement } from './activation-examination.js';
import { isNoLooser } from './looseness.js';
import {
  columnsOfRule,
  type OrderContent,
  requireHash,
  requireVersionRead,
  type RuleColumns,
  ruleOf,
} from './order-content.js';
import { type StandingOrderRule, tightens } from './standing-order.js';
import type { StandingOrderEntity } from './standing-order.entity.js';
import { receiptOf, viewOf } from './standing-order-view.js';
import type {
  StandingOrderView,
  ReviseStandingOrderBody,
  RollBackStandingOrderBody,
} from './standing-orders.dto.js';
import { StandingOrderRules, type RuleOfBody } from './standing-order-rules.js';
import { StandingOrders } from './standing-orders.repository.js';
import { THROTTLED } from './standing-orders.service.js';

/** How a version came about. */
interface Origin {
  act: 'revised' | 'rolled_back';
  /** The owner has said that they know what it lets out. */
  acknowledged: boolean;
  details?: Record<string, unknown>;
}

/** Versions of an order: what it says next, or says again. */
@Injectable()
export class StandingOrderVersions {
  constructor(
    private readonly orders: StandingOrders,
    private readonly examination: ActivationExamination,
    private readonly rules: StandingOrderRules,
    private readonly work: Work,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /**
   * Changes what an order says, as its next version.
   * @param ifMatch the hash of what the caller has read
   * @throws NotFound, ValidationFailed, InvalidTransition, what {@link requireVersionRead} throws, or Forbidden for what the caller
   * may not loosen
   */
  async revise(
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
    return this.add(caller, order, content, { act: 'revised', acknowledged });
  }

  /**
   * Makes a further version of an order, with what one of its former versions said.
   * @param ifMatch the hash of the order as the caller has read it
   * @throws NotFound, ValidationFailed, InvalidTransition, ContentChanged, or Forbidden for what the caller may not loosen
   */
  async rollBack(
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
    return this.add(
      caller,
      order,
      { name, text, rule },
      { act: 'rolled_back', acknowledged: acknowledge === true, details: { rolledBackTo: version } },
    );
  }

  /**
   * Makes the next version of an order (docs/decisions/0016). In force, a version that lets nothing more through than the
   * former one applies at once; one that may let more through takes the rights, and passes the
   * check, of an order that is activated. Where it is refused, the former version stays in force.
   * @throws InvalidTransition, Forbidden, or SimulationRequired without the acknowledgement of an owner
   */
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
    await this.work.hasten(THROTTLED);
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

  private requireUnexpired({ expiresAt }: RuleColumns, version: number): void {
    if (expiresAt === null || expiresAt > this.clock.now()) return;
    const since = new Date(expiresAt).toISOString();
    const message = `version ${version} expired at ${since}; change the order instead, with another expiresAt`;
    throw invalidVersion('isUnexpired', message);
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

/** Without what was left out; null was said. */
function said<T extends object>(changes: T): Partial<T> {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** An order without words of its own is described by its name, whatever that becomes. */
function textOf(order: StandingOrderEntity, name: string, text: string | null | undefined): string {
  if (text === undefined) return order.text === order.name ? name : order.text;
  return text ?? name;
}

function invalidVersion(rule: string, message: string) {
  return new ValidationFailed({ details: [{ path: 'version', rule, message }] });
}
