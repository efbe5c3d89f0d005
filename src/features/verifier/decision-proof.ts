import type { ReceiptContent } from '../../platform/receipts/receipt.js';
import {
  type DecisionOrder,
  hashOf,
  isLimited,
  type OrderUsage,
  type RecordedInput,
  type RecordedPacket,
} from '../standing-orders/decision-input.js';
import { type Decision, evaluateAgain, mayConcern } from '../standing-orders/evaluate.js';
import { OrderHistory, type OrdersOfPolicy } from './order-history.js';
import { type Use, UseHistory } from './use-history.js';

/** What differs when a decision is made again. */
export type DecisionFaultKind = 'order_hash' | 'input_hash' | 'guardian' | 'policy' | 'outcome' | 'usage';

/** One difference; the message quotes nothing of a receipt. */
export interface DecisionFault {
  kind: DecisionFaultKind;
  /** The receipt that does not agree with those before it. */
  seq: number;
  message: string;
}

/** A decision as a receipt tells it. */
interface ToldDecision {
  outcome: Decision['outcome'];
  inputHash: string;
  input: ToldInput;
}

/** The zone of the windows stands in it where decisions are made in that of the workspace. */
type ToldInput = RecordedInput & { timezone?: string };

/** A decision that was made again. */
interface Made {
  decision: Decision;
  /** The orders that count the packet if it goes. */
  counting: readonly DecisionOrder[];
  packet: RecordedPacket;
  at: number;
}

/** The draft whose decisions are used if the next receipt of the act says that they let it go. */
interface Drafted {
  directiveId: string | null;
  made: readonly Made[];
}

const KEPT_FAULTS = 100;
const UNUSED: OrderUsage = { lastHour: 0, lastDay: 0, amountToday: 0, budgetSpent: 0 };

/** Made as a packet was about to be sent, where what it had used up before does not count. */
const AGAIN = ['directive.recalled', 'packet.denied', 'packet.throttled'];
/** After these a work packet that was released does not leave any more, or has left. */
const ENDS = ['packet.executed', 'packet.failed', 'packet.denied', 'packet.cancelled'];

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
  readonly #uses = new UseHistory();
  readonly #orders = new OrderHistory();
  #lastSeq = 0;
  #drafted: Drafted | undefined;
  #epoch: number | undefined;
  #mode: string | undefined;

  /** The next receipt. */
  receipt(seq: number, content: ReceiptContent): void {
    const { action, at, entity, details } = content;
    const isNext = seq === this.#lastSeq + 1;
    if (!isNext) {
      // Others may have counted between, and the guardian may have changed.
      this.#uses.incompleteUntil(at);
      this.#orders.incomplete();
      this.#mode = undefined;
      this.#epoch = undefined;
    } else if (seq === 1) {
      this.#epoch = 0;
    }
    this.#lastSeq = seq;
    const drafted = isNext ? this.#drafted : undefined;
    // Of a budget that is nearly spent somebody is told in the act itself, between the draft and its sending.
    this.#drafted = action === 'signal.raised' ? drafted : undefined;

    if (action.startsWith('standing_order.')) this.orderChanged(seq, content);
    else if (action.startsWith('guardian.')) this.guardianChanged(content);
    else if (action === 'workspace.created' || action === 'settings.changed') this.settingsChanged(content);
    else if (ENDS.includes(action)) this.#uses.ended(entity.id, at);

    const { told, others } = decisionsIn(details);
    if (told.length > 0) this.decided(seq, content, told);
    // An earlier version of the program told less of them.
    if (others > 0) this.#uses.incompleteUntil(at);
    if (action === 'directive.sending' && isRelease(drafted, content)) this.release(drafted);
  }

  private orderChanged(seq: number, content: ReceiptContent): void {
    this.#uses.change();
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

  private settingsChanged({ action, at, details }: ReceiptContent): void {
    const { timezone } = ((action === 'settings.changed' ? details['new'] : details) ?? {}) as {
      timezone?: unknown;
    };
    if (typeof timezone === 'string') this.#uses.setZone(timezone, at);
    this.#uses.change();
  }

  private decided(seq: number, content: ReceiptContent, told: readonly ToldDecision[]): void {
    const made: Made[] = [];
    for (const one of told) {
      this.decisions++;
      const again = this.again(seq, content, one, made);
      if (again) made.push(again);
      // What it would use up is not known either.
      else this.#uses.incompleteUntil(content.at);
    }
    if (content.action === 'directive.drafted') this.#drafted = { directiveId: content.directiveId, made };
  }

  private again(
    seq: number,
    { action }: ReceiptContent,
    { outcome, inputHash, input }: ToldDecision,
    before: readonly Made[],
  ): Made | undefined {
    const faultsBefore = this.faultCount;
    const { packet, at, policy } = input;
    if (hashOf(input) !== inputHash) {
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
    const decision = evaluateAgain(input, known.orders);
    if (decision.outcome !== outcome) {
      const message = `A decision in receipt ${seq} says ${outcome}; made again it comes out as ${decision.outcome}.`;
      this.fault('outcome', seq, message);
    }
    if (known.isWhole) this.checkUsage(seq, action, input, known, before);
    if (this.faultCount === faultsBefore) this.equal++;
    const ids = countingIn(decision);
    return { decision, counting: known.orders.filter((order) => ids.has(order.standingOrderId)), packet, at };
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

  private checkUsage(
    seq: number,
    action: string,
    input: ToldInput,
    { orders }: OrdersOfPolicy,
    before: readonly Made[],
  ): void {
    const { at, packet, timezone } = input;
    const allowed = before.filter(({ decision }) => decision.outcome === 'allow');
    for (const order of orders) {
      if (order.status !== 'active' || !isLimited(order)) continue;
      // Only what may concern a packet of the act is looked up.
      const isCounted = Object.hasOwn(input.usage, order.standingOrderId);
      if (!isCounted && !mayConcern(order, packet)) continue;
      const usage = isCounted ? input.usage[order.standingOrderId]! : UNUSED;
      const pending = allowed.filter(({ counting }) => counting.includes(order)).map((one) => useOf(one));
      const isAgain = AGAIN.includes(action);
      const wrong = this.#uses.wrong({ at, timezone, order, packet, usage, pending, isAgain });
      if (wrong.length === 0) continue;
      const message = `A decision in receipt ${seq} goes by another usage of an order than the receipts before it show: ${wrong.join(', ')}.`;
      this.fault('usage', seq, message);
    }
  }

  private release({ made }: Drafted): void {
    for (const one of made) {
      const waits = one.decision.outcome !== 'allow';
      this.#uses.release(one.packet, one.at, waits);
      if (waits) continue;
      for (const order of one.counting) this.#uses.add(order.standingOrderId, useOf(one));
    }
  }

  private fault(kind: DecisionFaultKind, seq: number, message: string): void {
    this.faultCount++;
    if (this.faults.length < KEPT_FAULTS) this.faults.push({ kind, seq, message });
  }
}

/** Those that matched, and those that are only tried out. */
function countingIn({ matched, shadow }: Decision): Set<string> {
  return new Set([...matched, ...shadow].map(({ standingOrderId }) => standingOrderId));
}

function useOf({ packet: { workPacketId, currency, amount }, at }: Made): Use {
  return { at, workPacketId: workPacketId ?? '', amount: Math.abs(amount ?? 0), currency };
}

/** The orders let a draft go in the act that accepts it; what a person lets go counts for no order. */
function isRelease(drafted: Drafted | undefined, { directiveId }: ReceiptContent): drafted is Drafted {
  return drafted?.directiveId === directiveId;
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
