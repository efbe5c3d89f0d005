import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { checkpointText } from './checkpoints.js';
import { GENESIS_HASH, type ReceiptContent, receiptHash } from './receipt.js';
import type { PublicKey } from './signing-keys.js';

/** What can be wrong with a chain of receipts. */
export type ChainFaultKind =
  | 'hash_mismatch'
  | 'missing'
  | 'prev_hash_mismatch'
  | 'content_mismatch'
  | 'head_mismatch'
  | 'tail_cut'
  | 'checkpoint_mismatch'
  | 'bad_signature';

/** One fault; the message quotes nothing of a receipt, so that anyone in the workspace may read it. */
export interface ChainFault {
  kind: ChainFaultKind;
  seq: number;
  message: string;
}

/** A place in a chain with its hash: the head as stored, or one that was noted elsewhere. */
export interface ChainPoint {
  seq: number;
  hash: string;
}

/** A point that our key has signed. */
export interface SignedCheckpoint extends ChainPoint {
  workspaceId: string;
  /** Unix milliseconds. */
  signedAt: number;
  keyId: string;
  /** Ed25519, base64url. */
  signature: string;
}

/** A receipt as it is stored: the exact bytes that were hashed, and the columns to find it by. */
export interface StoredReceipt extends ChainPoint {
  workspaceId: string;
  receiptId: string;
  at: number;
  actorType: string;
  actorId: string;
  action: string;
  entityType: string;
  entityId: string;
  directiveId: string | null;
  teamId: string | null;
  capo: string | null;
  body: string;
  prevHash: string;
}

/** A point that the chain must still show, and who says so. */
interface Awaited extends ChainPoint {
  witness: string;
}

/** Someone tampering leaves a fault at every receipt behind; the first ones tell where it began. */
const KEPT_FAULTS = 100;

/** Where each column's value stands in the hashed body. */
const IN_BODY: readonly [column: keyof StoredReceipt, inBody: (content: ReceiptContent) => unknown][] = [
  ['workspaceId', (content) => content.workspaceId],
  ['receiptId', (content) => content.receiptId],
  ['at', (content) => content.at],
  ['actorType', (content) => content.actor?.type],
  ['actorId', (content) => content.actor?.id],
  ['action', (content) => content.action],
  ['entityType', (content) => content.entity?.type],
  ['entityId', (content) => content.entity?.id],
  ['directiveId', (content) => content.directiveId],
  ['teamId', (content) => content.teamId],
  ['capo', (content) => content.capo],
];

/**
 * Checks one chain (CONTRACT section 5, Receipt), a receipt at a time, in memory that does not grow with the chain.
 * The chain by itself shows a changed byte and a deleted receipt. That its end was cut, or all of it written anew,
 * shows only against a point from elsewhere: a signed checkpoint, or a head that someone noted.
 */
export class ChainVerifier {
  /** The first hundred. */
  readonly faults: ChainFault[] = [];
  /** How many receipts were checked. */
  checked = 0;
  /** How many checkpoints were checked. */
  checkpoints = 0;
  readonly #keys: ReadonlyMap<string, KeyObject>;
  readonly #awaited = new Map<number, Awaited[]>();
  #last: ChainPoint = { seq: 0, hash: GENESIS_HASH };

  constructor(keys: readonly Pick<PublicKey, 'keyId' | 'publicKey'>[]) {
    this.#keys = new Map(
      keys.flatMap(({ keyId, publicKey }) => {
        const key = publicKeyOf(publicKey);
        return key ? [[keyId, key]] : [];
      }),
    );
  }

  /** A checkpoint of this chain; comes before the receipt that it signs. */
  checkpoint(checkpoint: SignedCheckpoint): void {
    this.checkpoints++;
    // Without a signature it shows nothing about the chain, whatever it says.
    if (this.isSigned(checkpoint)) this.await(checkpoint, 'the signed checkpoint');
    else
      this.fault(
        'bad_signature',
        checkpoint.seq,
        `The checkpoint at ${checkpoint.seq} is not signed by a known key.`,
      );
  }

  /** A head of this chain that was noted elsewhere; comes before its receipt. */
  held(point: ChainPoint): void {
    this.await(point, 'the head held elsewhere');
  }

  /** The next receipt, in the order of `seq`. */
  receipt(receipt: StoredReceipt): void {
    const { seq, hash } = receipt;
    const expected = this.#last.seq + 1;
    if (seq < expected) throw new Error('receipts must come in the order of their numbers');
    if (seq > expected) {
      this.fault('missing', expected, `${receiptsOf(expected, seq - 1)} missing.`);
      // What was said about these is told by their absence.
      for (const awaited of this.#awaited.keys()) if (awaited < seq) this.#awaited.delete(awaited);
    } else if (receipt.prevHash !== this.#last.hash) {
      this.fault('prev_hash_mismatch', seq, `Receipt ${seq} does not name the hash of the one before it.`);
    }
    if (receiptHash(receipt.prevHash, receipt.body) !== hash) {
      this.fault('hash_mismatch', seq, `The hash of receipt ${seq} is not that of its bytes.`);
    }
    const columns = columnsAtOdds(receipt);
    if (columns.length > 0) {
      this.fault('content_mismatch', seq, `Receipt ${seq} was hashed with another ${columns.join(', ')}.`);
    }
    for (const point of this.#awaited.get(seq) ?? []) this.add(pointFault(point, hash, seq, point.witness));
    this.#awaited.delete(seq);
    this.#last = { seq, hash };
    this.checked++;
  }

  /** After the last receipt: where the chain should end. */
  finish(head: ChainPoint): void {
    const last = this.#last;
    const furthest = [{ ...head, witness: 'the head of the chain' }, ...[...this.#awaited.values()].flat()]
      .filter((point) => point.seq > last.seq)
      .toSorted((a, b) => b.seq - a.seq)[0];
    if (furthest) this.add(tailCut(last.seq, furthest, furthest.witness));
    if (head.seq < last.seq) {
      this.fault('head_mismatch', head.seq, `The head is ${head.seq}, but the chain goes on to ${last.seq}.`);
    } else if (head.seq === last.seq && head.hash !== last.hash) {
      this.fault('head_mismatch', head.seq, `The head has another hash than receipt ${head.seq}.`);
    }
  }

  private await(point: ChainPoint, witness: string): void {
    const { seq, hash } = point;
    this.#awaited.set(seq, [...(this.#awaited.get(seq) ?? []), { seq, hash, witness }]);
  }

  private isSigned(checkpoint: SignedCheckpoint): boolean {
    const key = this.#keys.get(checkpoint.keyId);
    const signature = Buffer.from(checkpoint.signature, 'base64url');
    return key !== undefined && verify(null, Buffer.from(checkpointText(checkpoint)), key, signature);
  }

  private fault(kind: ChainFaultKind, seq: number, message: string): void {
    this.add({ kind, seq, message });
  }

  private add(fault: ChainFault | undefined): void {
    if (fault && this.faults.length < KEPT_FAULTS) this.faults.push(fault);
  }
}

/**
 * What a point noted elsewhere shows about the chain that is stored: `stored` is the hash there of the point's
 * receipt, undefined when it is not there; `end` is the number of the chain's last receipt.
 */
export function pointFault(
  point: ChainPoint,
  stored: string | undefined,
  end: number,
  witness = 'the head held elsewhere',
): ChainFault | undefined {
  const { seq } = point;
  if (stored === point.hash) return undefined;
  if (stored !== undefined) {
    const message = `The chain was written anew: receipt ${seq} has another hash than ${witness} says.`;
    return { kind: 'checkpoint_mismatch', seq, message };
  }
  if (seq > end) return tailCut(end, point, witness);
  return { kind: 'missing', seq, message: `${receiptsOf(seq, seq)} missing.` };
}

function tailCut(end: number, { seq }: ChainPoint, witness: string): ChainFault {
  const message = `${receiptsOf(end + 1, seq)} missing from the end: ${witness} knows of them.`;
  return { kind: 'tail_cut', seq: end + 1, message };
}

function receiptsOf(first: number, last: number): string {
  return first === last ? `Receipt ${first} is` : `Receipts ${first} to ${last} are`;
}

function columnsAtOdds(receipt: StoredReceipt): string[] {
  let content: ReceiptContent;
  try {
    content = JSON.parse(receipt.body) as ReceiptContent;
  } catch {
    return ['content'];
  }
  if (typeof content !== 'object' || content === null) return ['content'];
  return IN_BODY.filter(([column, inBody]) => inBody(content) !== receipt[column]).map(([column]) => column);
}

/** Undefined for a key that cannot verify: what it signed then counts as not signed. */
function publicKeyOf(pem: string): KeyObject | undefined {
  try {
    const key = createPublicKey(pem);
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}
