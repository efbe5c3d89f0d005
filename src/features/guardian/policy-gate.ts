import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import {
  type DecidedPacket,
  type DecisionOrder,
  isLimited,
  policyOf,
  type RecordedInput,
  recorded,
} from '../standing-orders/decision-input.js';
import { type Decision, evaluateAgain, mayConcern } from '../standing-orders/evaluate.js';
import { type KnownOrders, OrdersInForce, ordersFor } from '../standing-orders/orders-in-force.js';
import { Policies } from '../standing-orders/policies.repository.js';
import { PolicyDecisions } from '../standing-orders/policy-decisions.repository.js';
import { StandingOrders } from '../standing-orders/standing-orders.repository.js';
import { type FormerUse, type UsageOfOrder, Usages, usesOf } from '../standing-orders/usages.js';
import { type OperatorHours, Workspaces } from '../workspaces/workspaces.repository.js';
import type { GuardianEntity } from './guardian.entity.js';
import { letsNothingLeave } from './guardian.js';
import { type BudgetWarning, budgetWarnings, OrderUses } from './order-uses.js';
import { type TakenBefore, ThrottleRoom, type WaitingAhead } from './throttle-room.js';

/** A decision with what it depended on, so that it can be made again. */
export interface PolicyDecision {
  decision: Decision;
  input: RecordedInput;
  /** The orders that count the work packet if it goes: those that matched, and those that are only tried out. */
  counting: readonly DecisionOrder[];
  /** The budgets that are nearly spent if it goes. */
  warnings: readonly BudgetWarning[];
}

/** Who let a work packet go: the standing orders alone, or a person who read it. */
export type AllowedBy = 'policy' | 'person';

/**
 * What becomes of an allowed work packet that is about to leave. `wait`: the guardian's mode lets nothing leave, so it
 * stays as it is. `throttle`: it is decided again at the time that the decision says. `review`: a person has to be asked,
 * for the reasons of the decision. `deny`: it ends.
 */
export type Recheck =
  | { verdict: 'go' }
  | { verdict: 'wait' }
  | { verdict: 'throttle' | 'review' | 'deny'; policy: PolicyDecision };

type Packet = DecidedPacket & { workPacketId: string };

/** What a decision depends on besides the work packet. */
export interface Situation {
  at: number;
  guardian: Pick<GuardianEntity, 'mode' | 'epoch'>;
  operator: OperatorHours;
  known: KnownOrders;
  usages: Usages;
}

/** Where nobody says who waits, nobody does. */
const NOBODY_WAITS: WaitingAhead = () => Promise.resolve(new Map());

/** Where the guardian decides whether a packet may be sent: standing orders, limits, budgets and its mode. */
@Injectable()
export class PolicyGate {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly orders: StandingOrders,
    private readonly inForce: OrdersInForce,
    private readonly policies: Policies,
    private readonly decisions: PolicyDecisions,
    private readonly workspaces: Workspaces,
    private readonly uses: OrderUses,
    private readonly room: ThrottleRoom,
  ) {}

  /**
   * Decides `packets` in their order, within the open transaction, and records the decisions; what one packet uses up of a
   * limit counts for the next. Decisions of one workspace wait for each other, so two of them cannot share the last unit of
   * a limit. Nothing is used up yet: {@link use} records the packets that then really go by these decisions.
   */
  async decide(
    packets: readonly DecidedPacket[],
    { guardian, waitingAhead = NOBODY_WAITS }: { guardian: GuardianEntity; waitingAhead?: WaitingAhead },
  ): Promise<PolicyDecision[]> {
    const { situation } = await this.read(packets, guardian);
    const before = new Map<string, TakenBefore>();
    const decisions: PolicyDecision[] = [];
    for (const packet of packets) {
      const orders = ordersFor(situation.known, packet.teamId, situation.at);
      const decided = await this.withRoom(decideBy(orders, packet, situation), waitingAhead, before);
      this.record(packet, decided);
      take(decided, packet, situation, before);
      decisions.push(decided);
    }
    return decisions;
  }

  /** Records that the packet is sent by this decision: every order that matched counts it. */
  use(decided: PolicyDecision): void {
    this.uses.record(decided);
  }

  /**
   * Whether an allowed packet may still go, asked in the transaction that claims it for sending: between the decision
   * and that moment an order may have ended, another begun, or the mode changed. What the standing orders allowed is
   * decided again in full, apart from what it used up of their limits itself. What a person approved is checked against
   * the orders that deny and the mode alone: the person was asked, so no order has to allow it. One round trip. A decision
   * that keeps the packet is recorded.
   */
  async recheck(
    packet: Packet,
    {
      guardian,
      allowedBy,
      waitingAhead = NOBODY_WAITS,
    }: { guardian: GuardianEntity; allowedBy: AllowedBy; waitingAhead?: WaitingAhead },
  ): Promise<Recheck> {
    if (letsNothingLeave(guardian.mode)) return { verdict: 'wait' };
    return allowedBy === 'person'
      ? this.recheckApproved(packet, guardian)
      : this.recheckAllowed(packet, guardian, waitingAhead);
  }

  private async recheckApproved(packet: Packet, guardian: GuardianEntity): Promise<Recheck> {
    const at = this.clock.now();
    const { unit } = this.db;
    const { workspaceId } = unit.scope;
    const [[operator], [{ epoch }]] = (await unit.batch([
      this.workspaces.operatorHoursStatement(workspaceId),
      this.inForce.epochStatement(workspaceId),
    ])) as [[OperatorHours], [{ epoch: number }]];
    const before = this.inForce.known(workspaceId);
    const known = before.epoch === epoch ? before : await this.inForce.read(workspaceId);
    const denying = ordersFor(known, packet.teamId, at).filter(({ effect }) => effect === 'deny');
    const policy = decideBy(denying, packet, { at, guardian, operator, known, usages: new Usages([]) });
    if (policy.decision.outcome !== 'deny') return { verdict: 'go' };
    this.record(packet, policy);
    return { verdict: 'deny', policy };
  }

  private async recheckAllowed(
    packet: Packet,
    guardian: GuardianEntity,
    waitingAhead: WaitingAhead,
  ): Promise<Recheck> {
    const { situation, former } = await this.read([packet], guardian, packet.workPacketId);
    for (const use of former) situation.usages.discount(use);
    const orders = ordersFor(situation.known, packet.teamId, situation.at);
    const policy = await this.withRoom(decideBy(orders, packet, situation), waitingAhead);
    const { outcome } = policy.decision;
    if (outcome === 'allow') {
      this.uses.record({ ...policy, warnings: warningsOf(policy, situation) }, former);
      return { verdict: 'go' };
    }
    this.record(packet, policy);
    return { verdict: outcome === 'require_approval' ? 'review' : outcome, policy };
  }

  /** A decision that lets the packet wait says until when; that takes a look at the uses, and is decided with them. */
  private async withRoom(
    decided: Decided,
    waitingAhead: WaitingAhead,
    before: ReadonlyMap<string, TakenBefore> = new Map(),
  ): Promise<Decided> {
    const { decision, input, orders } = decided;
    if (decision.outcome !== 'throttle') return decided;
    const usage = await this.room.usageWithRoom(decision, input, waitingAhead, before);
    const withRoom = { ...input, usage };
    return { ...decided, input: withRoom, decision: evaluateAgain(withRoom, orders) };
  }

  /**
   * Locks the workspace's decisions and reads what they depend on, in one round trip unless an order has changed since the
   * last decision. With `sent`, also what this work packet has used up by an earlier decision.
   */
  private async read(
    packets: readonly DecidedPacket[],
    guardian: GuardianEntity,
    sent?: string,
  ): Promise<{ situation: Situation; former: FormerUse[] }> {
    const at = this.clock.now();
    const { unit } = this.db;
    const { workspaceId } = unit.scope;
    const askFor = ({ orders }: KnownOrders) => {
      const concerned = orders.filter((order) => packets.some((packet) => mayConcern(order, packet)));
      const limited = concerned.filter(isLimited);
      return [
        this.orders.usageStatement(workspaceId, limited.map(idOf), at),
        ...(sent === undefined
          ? []
          : [this.orders.formerUsesStatement(workspaceId, concerned.map(idOf), sent, at)]),
      ];
    };
    let known = this.inForce.known(workspaceId);
    const [, [operator], [{ epoch }], ...first] = (await unit.batch([
      this.orders.lockDecisionsStatement(workspaceId),
      this.workspaces.operatorHoursStatement(workspaceId),
      this.inForce.epochStatement(workspaceId),
      ...askFor(known),
    ])) as [unknown, [OperatorHours], [{ epoch: number }], UsageOfOrder[], FormerUse[]?];
    let [usage, former = []] = first;
    if (known.epoch !== epoch) {
      known = await this.inForce.read(workspaceId);
      [usage, former = []] = (await unit.batch(askFor(known))) as [UsageOfOrder[], FormerUse[]?];
    }
    return { situation: { at, guardian, operator, known, usages: new Usages(usage) }, former };
  }

  private record(packet: DecidedPacket, { decision, input, orders }: Decided): void {
    this.policies.add(policyOf(orders));
    this.decisions.add(packet, decision, input);
  }
}

/** With the orders that it was made by. */
export interface Decided extends PolicyDecision {
  orders: readonly DecisionOrder[];
}

/** Decides one work packet in a situation; changes nothing. */
export function decideBy(
  orders: readonly DecisionOrder[],
  packet: DecidedPacket,
  { at, guardian: { mode, epoch }, operator: { presence, timezone }, usages }: Situation,
): Decided {
  const usage = usages.in(packet.currency);
  const input = recorded({ at, timezone, presence, guardian: { mode, epoch }, packet, orders, usage });
  const decision = evaluateAgain(input, orders);
  const ids = new Set([...decision.matched, ...decision.shadow].map(idOf));
  return { decision, input, orders, counting: orders.filter((order) => ids.has(idOf(order))), warnings: [] };
}

function warningsOf({ decision, counting }: Decided, { usages }: Situation): BudgetWarning[] {
  return budgetWarnings(decision, counting, usages);
}

/** What the packet takes of the limits counts for those of its draft that are decided after it. */
function take(
  decided: Decided,
  packet: DecidedPacket,
  situation: Situation,
  before: Map<string, TakenBefore>,
): void {
  const { decision, counting } = decided;
  const isGone = decision.outcome === 'allow';
  if (isGone) {
    decided.warnings = warningsOf(decided, situation);
    for (const use of usesOf(counting, packet, situation.at)) situation.usages.add(use);
  }
  if (!isGone && decision.outcome !== 'throttle') return;
  for (const { standingOrderId } of counting) {
    const { gone, waiting } = before.get(standingOrderId) ?? { gone: 0, waiting: 0 };
    before.set(standingOrderId, { gone: gone + Number(isGone), waiting: waiting + Number(!isGone) });
  }
}

function idOf({ standingOrderId }: { standingOrderId: string }): string {
  return standingOrderId;
}
