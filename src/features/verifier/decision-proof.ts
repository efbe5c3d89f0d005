import { canonicalJson, canonicalJsonOfParsed, sha256 } from '../../platform/kernel/canonical-json.js';
import { isKnownZone } from '../../platform/kernel/local-day.js';
import type { ReceiptContent } from '../../platform/receipts/receipt.js';
import {
  type DecisionOrder,
  isLimited,
  type OrderUsage,
  policyOf,
  type RecordedInput,
  storableOrder,
} from '../standing-orders/decision-input.js';
import { type Decision, evaluateAgain, mayConcern } from '../standing-orders/evaluate.js';
import { ordersFor, type OrdersOfTeams } from '../standing-orders/orders-for.js';
import type { StandingOrderRule, StandingOrderStatus } from '../standing-orders/standing-order.js';
import { type Use, useOf, UsesOfOrder } from '../standing-orders/uses-of-order.js';
import { startOfWindow } from '../standing-orders/windows.js';
import { VoteProof } from './vote-proof.js';

/** One version of an order. */
interface Version {
  hash: string;
  name: string;
  rule: StandingOrderRule;
}

/** What a receipt of an order tells; the rule stands in the first of each version. */
interface ToldOrder extends Version {
  version: number;
  status: StandingOrderStatus;
}

/** How an order stands; without a version when the receipt that tells it is missing. */
interface State {
  number: number;
  status: StandingOrderStatus;
  version: Version | undefined;
}

/** The orders of the workspace as they were for a while: in force, of every team; undefined where a receipt is missing that would tell one. */
interface Period {
  orders: readonly DecisionOrder[] | undefined;
  ofTeams: OrdersOfTeams;
}

const MAX_PERIODS = 1_000;

/** Which versions of which orders were in force, from the receipts of orders alone. */
class OrderHistory {
  readonly #versions = new Map<string, Map<number, Version>>();
  readonly #states = new Map<string, State>();
  /** The last is the present one; a decision that was being made while an order changed is written behind the change. */
  readonly #periods: Period[] = [];
  #isWhole = true;

  constructor() {
    this.begin();
  }

  /** Receipts are missing, perhaps of orders. */
  incomplete(): void {
    this.#isWhole = false;
  }

  /** A receipt of an order; false when its hash is not that of the rule that it tells. */
  receipt({ entity, details }: ReceiptContent): boolean {
    const { version: number, status, hash, name, rule } = details as Partial<ToldOrder>;
    if (typeof number !== 'number' || typeof status !== 'string' || typeof hash !== 'string') return true;
    const standingOrderId = entity.id;
    const versions = this.#versions.get(standingOrderId) ?? new Map<number, Version>();
    this.#versions.set(standingOrderId, versions);
    let isSound = true;
    if (typeof rule?.match === 'object' && rule.match !== null) {
      isSound = sha256(canonicalJson(rule)) === hash;
      versions.set(number, { hash, rule, name: name ?? '' });
    }
    this.#states.set(standingOrderId, { number, status, version: versions.get(number) });
    this.begin();
    return isSound;
  }

  /**
   * The orders of the policy that a decision for this team names; undefined for a policy that was not in force then.
   * `unknown` where that cannot be told, since receipts of orders are missing. `mayDenyOnly`: the decision may have looked at
   * the orders that deny alone, as earlier versions of the program did for what a person had approved.
   */
  policy(
    hash: string,
    { teamId, at, mayDenyOnly }: { teamId: string | null; at: number; mayDenyOnly: boolean },
  ): readonly DecisionOrder[] | undefined | 'unknown' {
    for (const { orders: inForce, ofTeams } of this.#periods.toReversed()) {
      if (!inForce) return 'unknown';
      const orders = ordersFor({ orders: inForce, ofTeams }, teamId, at);
      if (policyOf(orders).hash === hash) return orders;
      if (!mayDenyOnly) continue;
      const denying = orders.filter(({ effect }) => effect === 'deny');
      if (policyOf(denying).hash === hash) return denying;
    }
    return this.#isWhole ? undefined : 'unknown';
  }

  /** The decisions of a receipt were made. The next one was not being made any more before then: one waits for another. */
  decided(): void {
    this.#periods.splice(0, this.#periods.length - 1);
  }

  private begin(): void {
    this.#periods.push({ orders: this.inForce(), ofTeams: new Map() });
    if (this.#periods.length > MAX_PERIODS) this.#periods.shift();
  }

  private inForce(): DecisionOrder[] | undefined {
    const orders: DecisionOrder[] = [];
    for (const [standingOrderId, { number, status, version }] of this.#states) {
      if (status !== 'active' && status !== 'shadow') continue;
      if (!version) return undefined;
      const { hash, name, rule } = version;
      const order = { ...rule, standingOrderId, version: number, hash, name, status };
      orders.push(storableOrder(order as DecisionOrder));
    }
    return orders;
  }
}

/** What differs when a decision is made again. */
type DecisionFaultKind = 'order_hash' | 'input_hash' | 'guardian' | 'policy' | 'outcome' | 'usage' | 'votes';

/** One difference; the message quotes nothing of a receipt. */
interface DecisionFault {
  kind: DecisionFaultKind;
  /** The receipt that does not agree with those before it. */
  seq: number;
  message: string;
}

/** A decision as a receipt tells it. */
interface ToldDecision {
  outcome: Decision['outcome'];
  inputHash: string;
  input: RecordedInput;
  /** Missing where an earlier version of the program made it, by the clock of one of its processes. */
  clock?: string;
}

/** What orders count of a work packet. */
interface Counted {
  workPacketId: string;
  use: Use;
  standingOrderIds: string[];
}

/** A draft whose uses count if the next receipt of the act says that the orders let it go. */
interface Drafted {
  directiveId: string | null;
  counted: readonly Counted[];
}

const KEPT_FAULTS = 100;
const UNUSED: OrderUsage = { lastHour: 0, lastDay: 0, amountToday: 0, budgetSpent: 0 };
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Amounts have four decimals at the most. */
const ROUNDING = 0.00005;

/** What an agent from outside asked for was decided, for the first time or again. */
const OF_ACTIONS = ['action.allowed', 'action.denied', 'action.asked', 'action.throttled'];
/** Made as a packet was about to be sent, where what it had used up before does not count. */
const AGAIN = ['directive.recalled', 'packet.allowed', 'packet.denied', 'packet.throttled', ...OF_ACTIONS];
/** With these it counts from then on. */
const ALLOWED = ['packet.allowed', 'action.allowed'];
/** After these a work packet has left, and gives nothing back. */
const LEFT = ['packet.executed', 'packet.confirmed', 'action.consumed'];

/**
 * Makes every decision in the receipts again, from the receipts alone. They come in their order; memory grows with the
 * versions of orders and with what is released within a day, not with the receipts.
 *
 * From the receipts of orders it knows which versions were in force, from those of the guardian its mode and epoch, and from
 * the decisions that let something go what each order has counted. A receipt that does not agree with those before it is
 * named. What cannot be told, because receipts are missing, is counted and never called a fault.
 */
export class DecisionProof {
  /** How many decisions the receipts tell. */
  decisions = 0;
  /** How many came out the same when they were made again. */
  equal = 0;
  /** How many go by orders whose receipts are missing. */
  unknown = 0;
  faultCount = 0;
  /** The first hundred. */
  readonly faults: DecisionFault[] = [];
  readonly #orders = new OrderHistory();
  readonly #votes = new VoteProof();
  readonly #uses = new Map<string, UsesOfOrder>();
  /** What may still be given back, by work packet. */
  readonly #counted = new Map<string, Counted>();
  /** Every use from then on is known. */
  #wholeSince = -Infinity;
  /** Uses until the next decision are not all known. */
  #isIncomplete = false;
  #zone: string | undefined;
  /** A decision that was being made while the zone changed went by this one. */
  #formerZone: string | undefined;
  #lastSeq = 0;
  #drafted: Drafted | undefined;
  #epoch: number | undefined;
  #mode: string | undefined;

  /** The next receipt. */
  receipt(seq: number, content: ReceiptContent): void {
    const { action, entity, details } = content;
    const isNext = seq === this.#lastSeq + 1;
    if (!isNext) {
      // Others may have counted between, and the guardian may have changed.
      this.#isIncomplete = true;
      this.#orders.incomplete();
      this.#votes.incomplete();
      this.#mode = undefined;
      this.#epoch = undefined;
    } else if (seq === 1) {
      this.#epoch = 0;
    }
    this.#lastSeq = seq;
    const drafted = isNext ? this.#drafted : undefined;
    // Of a budget that is nearly spent somebody is told in the act itself, between the draft and its sending.
    if (action !== 'signal.raised' || !isNext) this.settleDraft(drafted, content);

    if (action.startsWith('standing_order.')) this.orderChanged(seq, content);
    else if (action.startsWith('guardian.')) this.guardianChanged(content);
    else if (action === 'workspace.created' || action === 'settings.changed') this.settingsChanged(content);
    else if (LEFT.includes(action)) this.#counted.delete(entity.id);

    const { told, others } = decisionsIn(details);
    // An earlier version of the program told less of them.
    if (others > 0) this.#isIncomplete = true;
    if (told.length > 0) this.decided(seq, content, told);
    for (const wrong of this.#votes.receipt(content)) this.fault('votes', seq, `Receipt ${seq} ${wrong}.`);
    for (const workPacketId of givenBackIn(details)) this.giveBack(workPacketId);
  }

  /** The orders let a draft go in the act that accepts it; what a person lets go counts for no order. */
  private settleDraft(next: Drafted | undefined, { action, directiveId }: ReceiptContent): void {
    const drafted = this.#drafted;
    this.#drafted = undefined;
    if (!drafted) return;
    const isReleased = action === 'directive.sending' && next?.directiveId === directiveId;
    for (const counted of drafted.counted) {
      if (isReleased) this.#counted.set(counted.workPacketId, counted);
      else this.take(counted, 'giveBack');
    }
  }

  private giveBack(workPacketId: string): void {
    const counted = this.#counted.get(workPacketId);
    this.#counted.delete(workPacketId);
    if (counted) this.take(counted, 'giveBack');
  }

  private take({ standingOrderIds, use }: Counted, how: 'add' | 'giveBack'): void {
    for (const id of standingOrderIds) {
      const uses = this.#uses.get(id) ?? new UsesOfOrder();
      this.#uses.set(id, uses);
      uses[how](use);
    }
  }

  private orderChanged(seq: number, content: ReceiptContent): void {
    if (this.#orders.receipt(content)) return;
    this.fault(
      'order_hash',
      seq,
      `The hash in receipt ${seq} is not that of the rule of the standing order in it.`,
    );
  }

  private guardianChanged({ action, guardianEpoch, details }: ReceiptContent): void {
    this.#epoch = guardianEpoch ?? this.#epoch;
    if (action === 'guardian.killed') this.#mode = 'killed';
    else if (action === 'guardian.mode_changed') this.#mode = String(details['mode']);
    // The mode it leads back to shows with the next decision.
    else if (action !== 'guardian.unconfirmed') this.#mode = undefined;
  }

  private settingsChanged({ action, details }: ReceiptContent): void {
    const { timezone } = ((action === 'settings.changed' ? details['new'] : details) ?? {}) as {
      timezone?: unknown;
    };
    if (typeof timezone !== 'string') return;
    this.#formerZone = this.#zone;
    this.#zone = timezone;
  }

  private decided(seq: number, { action, directiveId }: ReceiptContent, told: readonly ToldDecision[]): void {
    const made: Counted[] = [];
    for (const one of told) {
      this.decisions++;
      const { at, packet } = one.input;
      if (this.#isIncomplete || one.clock === undefined) this.#wholeSince = Math.max(this.#wholeSince, at);
      this.#isIncomplete = false;
      if (AGAIN.includes(action)) this.giveBack(packet.workPacketId ?? '');
      const counting = this.again(seq, action, directiveId, one);
      // What it would use up is not known.
      if (!counting) this.#isIncomplete = true;
      else if (one.outcome === 'allow') {
        const counted = {
          workPacketId: packet.workPacketId ?? '',
          use: useOf(packet, at),
          standingOrderIds: counting,
        };
        // What is decided after it in the same act is decided as if it had gone.
        this.take(counted, 'add');
        made.push(counted);
      }
    }
    this.#orders.decided();
    this.#formerZone = undefined;
    if (ALLOWED.includes(action))
      for (const counted of made) this.#counted.set(counted.workPacketId, counted);
    else this.#drafted = { directiveId: action === 'directive.drafted' ? directiveId : null, counted: made };
  }

  /** Answers the orders that count the packet if it goes; undefined where that cannot be told. */
  private again(
    seq: number,
    action: string,
    directiveId: string | null,
    { outcome, inputHash, input, clock }: ToldDecision,
  ): string[] | undefined {
    const faultsBefore = this.faultCount;
    const { packet, at, policy } = input;
    const workPacketId = packet.workPacketId ?? '';
    const subjectId = directiveId ?? workPacketId;
    this.#votes.decided(subjectId, workPacketId, {});
    if (sha256(canonicalJsonOfParsed(input)) !== inputHash) {
      this.fault(
        'input_hash',
        seq,
        `The input of a decision in receipt ${seq} does not have the hash that it names.`,
      );
    }
    this.checkGuardian(seq, input);
    const { teamId } = packet;
    const known = this.#orders.policy(policy, { teamId, at, mayDenyOnly: action === 'packet.denied' });
    if (known === 'unknown') {
      this.unknown++;
      return undefined;
    }
    if (!known) {
      this.fault(
        'policy',
        seq,
        `A decision in receipt ${seq} names orders that were not the ones in force then.`,
      );
      return undefined;
    }
    const decision = evaluateAgain(input, known);
    this.#votes.decided(subjectId, workPacketId, decision.approval);
    if (decision.outcome !== outcome) {
      const message = `A decision in receipt ${seq} says ${outcome}; made again it comes out as ${decision.outcome}.`;
      this.fault('outcome', seq, message);
    }
    if (clock !== undefined) this.checkUsage(seq, input, known);
    if (this.faultCount === faultsBefore) this.equal++;
    return countingIn(decision);
  }

  private checkGuardian(seq: number, { guardian: { mode, epoch } }: RecordedInput): void {
    const isSame = epoch === (this.#epoch ?? epoch) && mode === (this.#mode ?? mode);
    if (!isSame) {
      const message = `A decision in receipt ${seq} names another mode or epoch of the guardian than the receipts before it.`;
      this.fault('guardian', seq, message);
    }
    this.#mode = mode;
    this.#epoch = epoch;
  }

  private checkUsage(seq: number, input: RecordedInput, orders: readonly DecisionOrder[]): void {
    for (const order of orders) {
      if (order.status !== 'active' || !isLimited(order)) continue;
      // Only what may concern a packet of the act is looked up.
      const isCounted = Object.hasOwn(input.usage, order.standingOrderId);
      if (!isCounted && !mayConcern(order, input.packet)) continue;
      const wrong = this.wrongIn(isCounted ? input.usage[order.standingOrderId]! : UNUSED, order, input);
      if (wrong.length === 0) continue;
      const message = `A decision in receipt ${seq} goes by another usage of an order than the receipts before it show: ${wrong.join(', ')}.`;
      this.fault('usage', seq, message);
    }
  }

  /** Of what the decision says was used up, that which was not. */
  private wrongIn(
    usage: OrderUsage,
    order: DecisionOrder,
    { at, timezone, packet }: RecordedInput,
  ): string[] {
    const { standingOrderId, limits, budget } = order;
    const zone = timezone === this.#formerZone ? timezone : (this.#zone ?? timezone);
    const isZoned = zone !== undefined && isKnownZone(zone);
    const day = isZoned ? startOfWindow('day', at, zone) : NaN;
    const window = isZoned && budget ? startOfWindow(budget.window, at, zone) : NaN;
    const shown = this.#uses
      .get(standingOrderId)
      ?.usage(order, { at, timezone: isZoned ? zone : 'UTC', currency: packet.currency });
    const counters = [
      ['lastHour', limits?.maxPerHour, at - HOUR_MS],
      ['lastDay', limits?.maxPerDay, at - DAY_MS],
      ['amountToday', limits?.maxAmountPerDay, day],
      ['budgetSpent', budget?.amount, window],
    ] as const;
    return counters.flatMap(([counter, limit, since]) => {
      if (typeof limit !== 'number' || !(since >= this.#wholeSince)) return [];
      return Math.abs(usage[counter] - (shown ?? UNUSED)[counter]) < ROUNDING ? [] : [counter];
    });
  }

  private fault(kind: DecisionFaultKind, seq: number, message: string): void {
    this.faultCount++;
    if (this.faults.length < KEPT_FAULTS) this.faults.push({ kind, seq, message });
  }
}

/** Those that matched, and those that are only tried out. */
function countingIn({ matched, shadow }: Decision): string[] {
  return [...matched, ...shadow].map(({ standingOrderId }) => standingOrderId);
}

/** The work packets of which this receipt says that orders do not count them any more. */
function givenBackIn({ givenBack }: ReceiptContent['details']): string[] {
  if (!Array.isArray(givenBack)) return [];
  return givenBack.flatMap((one: unknown) => {
    const { workPacketId } = (one ?? {}) as { workPacketId?: unknown };
    return typeof workPacketId === 'string' ? [workPacketId] : [];
  });
}

/** Those that can be made again, and how many others there are. */
function decisionsIn({ decisions }: ReceiptContent['details']): { told: ToldDecision[]; others: number } {
  if (!Array.isArray(decisions)) return { told: [], others: 0 };
  const told = decisions.filter(isTold);
  return { told, others: decisions.length - told.length };
}

function isTold(decision: unknown): decision is ToldDecision {
  const { input } = (decision ?? {}) as Partial<ToldDecision>;
  const parts = [input, input?.packet, input?.packet?.fields, input?.guardian, input?.usage];
  return parts.every((part) => typeof part === 'object' && part !== null);
}
