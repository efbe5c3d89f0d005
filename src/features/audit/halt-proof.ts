import type { ReceiptContent } from '../../platform/receipts/receipt.js';

/** A work packet that was being sent when the kill came, or a consumed action request, as the kill's receipts name it. */
export interface UnderWay {
  workPacketId: string;
  teamId: string | null;
  /** Since when it was being sent, Unix milliseconds. */
  since: number;
  /** The receipt that says how it ended; null: none does so far. */
  endedSeq: number | null;
  ended: 'executed' | 'failed' | null;
}

/** A receipt of a dispatch that began, or of an action request that was consumed, while a kill stood. */
export interface DispatchInHalt {
  seq: number;
  /** The kill's receipt. */
  killedSeq: number;
  receiptId: string;
  workPacketId: string;
  teamId: string | null;
}

/** One kill with its revert, and what the receipts show of the time between. */
export interface Halt {
  epoch: number;
  killedSeq: number;
  /** Unix milliseconds. */
  killedAt: number;
  /** Null while it stands. */
  revertedSeq: number | null;
  revertedAt: number | null;
  dispatchesBetween: DispatchInHalt[];
  /** Of all, also of those that are not listed. */
  dispatchCount: number;
  unconfirmed: UnderWay[];
  unconfirmedCount: number;
}

/** The halts whose packets are listed: the newest, and as many packets of each. */
const KEPT_HALTS = 50;
const KEPT_PACKETS = 50;
/** As many earlier halts are known by their numbers; nothing is under way for longer than so many kills. */
const KNOWN_HALTS = 1_000;

/** The halt that stands, with everything that the kill named. */
interface Standing {
  halt: Halt;
  named: Set<string>;
  /** The kill's last receipt so far: those of the teams follow it without a gap. */
  lastSeq: number;
  requestId: string | null;
}

/** Where a dispatch began, as its receipt says. */
interface Began {
  /** The number of the last receipt at that time. */
  seq: number;
}

/**
 * Shows from the receipts alone that nothing was sent while a kill stood. Receipts come in their order; memory does not
 * grow with them.
 *
 * What was under way when the kill came is named by the kill, and may end at any time. Every other receipt of a dispatch
 * between a kill and its revert is a dispatch in the halt. So is, whenever it was written, one that says it began behind the
 * kill and before the revert: the transaction that begins a dispatch has locked the guardian's row and reads the head of
 * the chain, so that number is smaller than the kill's if and only if it came before. An action request is consumed by its receipt.
 */
export class HaltProof {
  /** The newest, oldest first. */
  readonly halts: Halt[] = [];
  /** How many kills there were. */
  count = 0;
  #standing: Standing | undefined;
  /** Every known halt by its numbers, oldest first. */
  readonly #known: Halt[] = [];
  /** Packets that a listed halt names and that have not ended. */
  readonly #awaited = new Map<string, UnderWay[]>();

  /** The next receipt; answers the dispatch that it shows to have begun while a kill stood. */
  receipt(seq: number, content: ReceiptContent): DispatchInHalt | undefined {
    switch (content.action) {
      case 'guardian.killed':
        this.killed(seq, content);
        return undefined;
      case 'guardian.unconfirmed':
        this.alsoUnderWay(seq, content);
        return undefined;
      case 'guardian.reverted':
        this.reverted(seq, content);
        return undefined;
      case 'packet.executed':
      case 'packet.partly_executed':
      case 'packet.failed':
        return this.ended(seq, content);
      case 'action.consumed':
        return this.#standing && this.dispatchedIn(this.#standing.halt, seq, content);
      case 'action.completed':
      case 'action.confirmed':
        this.awaitedEnded(seq, content.entity.id, true);
        return undefined;
      case 'action.failed':
      case 'action.not_done':
        this.awaitedEnded(seq, content.entity.id, false);
        return undefined;
      default:
        return undefined;
    }
  }

  private killed(seq: number, { at, guardianEpoch, details, requestId }: ReceiptContent): void {
    const halt: Halt = {
      epoch: guardianEpoch ?? 0,
      killedSeq: seq,
      killedAt: at,
      revertedSeq: null,
      revertedAt: null,
      dispatchesBetween: [],
      dispatchCount: 0,
      unconfirmed: [],
      unconfirmedCount: 0,
    };
    this.count++;
    this.halts.push(halt);
    if (this.halts.length > KEPT_HALTS) this.forget(this.halts.shift()!);
    this.#known.push(halt);
    if (this.#known.length > KNOWN_HALTS) this.#known.shift();
    this.#standing = { halt, named: new Set(), lastSeq: seq, requestId };
    this.name(this.#standing, packetsIn(details), null);
  }

  /** A kill names the packets of each team in a receipt of its own, which only that team reads. */
  private alsoUnderWay(seq: number, { details, teamId, requestId }: ReceiptContent): void {
    const standing = this.#standing;
    // A later act cannot name anything in the kill's stead.
    if (!standing || seq !== standing.lastSeq + 1 || requestId !== standing.requestId) return;
    standing.lastSeq = seq;
    this.name(standing, packetsIn(details), teamId);
  }

  private name({ halt, named }: Standing, packets: PacketInKill[], teamId: string | null): void {
    for (const { workPacketId, since } of packets) {
      named.add(workPacketId);
      halt.unconfirmedCount++;
      if (halt.unconfirmed.length === KEPT_PACKETS) continue;
      const underWay: UnderWay = { workPacketId, teamId, since, endedSeq: null, ended: null };
      halt.unconfirmed.push(underWay);
      this.#awaited.set(workPacketId, [...(this.#awaited.get(workPacketId) ?? []), underWay]);
    }
  }

  private reverted(seq: number, { at }: ReceiptContent): void {
    const halt = this.#standing?.halt;
    if (!halt) return;
    halt.revertedSeq = seq;
    halt.revertedAt = at;
    this.#standing = undefined;
  }

  private ended(seq: number, content: ReceiptContent): DispatchInHalt | undefined {
    const workPacketId = content.entity.id;
    const wasExecuted = content.action !== 'packet.failed';
    this.awaitedEnded(seq, workPacketId, wasExecuted);
    if (!wasExecuted && !mayHaveLeft(content)) return undefined;
    const halt = this.haltOf(workPacketId, content);
    return halt && this.dispatchedIn(halt, seq, content);
  }

  private awaitedEnded(seq: number, workPacketId: string, wasExecuted: boolean): void {
    for (const underWay of this.#awaited.get(workPacketId) ?? []) {
      underWay.endedSeq = seq;
      underWay.ended = wasExecuted ? 'executed' : 'failed';
    }
    this.#awaited.delete(workPacketId);
  }

  private dispatchedIn(
    halt: Halt,
    seq: number,
    { entity, receiptId, teamId }: ReceiptContent,
  ): DispatchInHalt {
    const dispatch = { seq, killedSeq: halt.killedSeq, receiptId, workPacketId: entity.id, teamId };
    halt.dispatchCount++;
    if (halt.dispatchesBetween.length < KEPT_PACKETS) halt.dispatchesBetween.push(dispatch);
    return dispatch;
  }

  /** The halt in which this dispatch began; undefined for one that began outside of any. */
  private haltOf(workPacketId: string, content: ReceiptContent): Halt | undefined {
    const standing = this.#standing;
    if (standing && !standing.named.has(workPacketId)) return standing.halt;
    const began = beganIn(content);
    if (!began) return undefined;
    const halt = this.#known.findLast(({ killedSeq }) => killedSeq <= began.seq);
    return halt && (halt.revertedSeq ?? Infinity) > began.seq ? halt : undefined;
  }

  private forget(halt: Halt): void {
    for (const underWay of halt.unconfirmed) {
      const left = this.#awaited.get(underWay.workPacketId)?.filter((one) => one !== underWay) ?? [];
      if (left.length > 0) this.#awaited.set(underWay.workPacketId, left);
      else this.#awaited.delete(underWay.workPacketId);
    }
    // Only its numbers are still needed.
    halt.unconfirmed = [];
    halt.dispatchesBetween = [];
  }
}

interface PacketInKill {
  workPacketId: string;
  since: number;
}

/** What was written by others, or by an earlier version, is read as far as it can be. */
function packetsIn({ unconfirmed }: ReceiptContent['details']): PacketInKill[] {
  if (!Array.isArray(unconfirmed)) return [];
  return (unconfirmed as (Partial<PacketInKill & { actionRequestId: string }> | null)[]).flatMap((packet) => {
    const workPacketId = packet?.workPacketId ?? packet?.actionRequestId;
    return typeof workPacketId === 'string' ? [{ workPacketId, since: packet?.since ?? 0 }] : [];
  });
}

function beganIn({ details }: ReceiptContent): Began | undefined {
  const { began } = details as { began?: Partial<Began> | null };
  return typeof began?.seq === 'number' ? { seq: began.seq } : undefined;
}

/** A failure after which nobody can say that nothing was sent. */
function mayHaveLeft({ details: { code } }: ReceiptContent): boolean {
  return typeof code === 'string' && code.endsWith('UNCONFIRMED');
}
