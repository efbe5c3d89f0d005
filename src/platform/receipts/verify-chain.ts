import { type KeyObject, verify } from 'node:crypto';
import type { ReceiptRow } from '../database/unit-of-work.js';
import { canonicalJson } from '../kernel/canonical-json.js';
import { type KeyFault, type KeyRecord, ed25519PublicKey } from './key-chain.js';
import { GENESIS_HASH, type ReceiptContent, receiptHash } from './receipt.js';

/** What can be wrong with a chain of receipts, or with what it tells. */
export type ChainFaultKind =
  | 'hash_mismatch'
  | 'missing'
  | 'prev_hash_mismatch'
  | 'content_mismatch'
  | 'head_mismatch'
  | 'tail_cut'
  | 'checkpoint_mismatch'
  | 'bad_signature'
  | 'untrusted_key'
  | 'dispatch_in_halt';

/** One fault; the message quotes nothing of a receipt, so that anyone in the workspace may read it. */
export interface ChainFault {
  kind: ChainFaultKind;
  /** 0 for a fault of a signing key. */
  seq: number;
  message: string;
  /** The signing key at fault, if one is. */
  keyId?: string;
}

/** A receipt's number and hash: the head as stored, or a head that was kept elsewhere. */
export interface ChainPoint {
  seq: number;
  hash: string;
}

/** A point of a chain that a signing key vouches for. */
export interface SignedCheckpoint extends ChainPoint {
  workspaceId: string;
  /** Unix milliseconds. */
  signedAt: number;
  keyId: string;
  /** Ed25519, base64url. */
  signature: string;
}

/** What a checkpoint's signature covers. */
export function checkpointText(checkpoint: Omit<SignedCheckpoint, 'keyId' | 'signature'>): string {
  const { workspaceId, seq, hash, signedAt } = checkpoint;
  return canonicalJson({ workspaceId, seq, hash, signedAt });
}

/** A receipt as it is stored: the exact bytes that were hashed, and the columns to find it by. */
export interface StoredReceipt extends ChainPoint, ReceiptRow {
  workspaceId: string;
  prevHash: string;
}

/** A point that the chain must still contain, and what says so. */
interface ExpectedPoint extends ChainPoint {
  source: string;
}

const KEPT_ELSEWHERE = 'the head kept elsewhere';

/** Someone tampering leaves a fault at every receipt behind; the first ones tell where it began. */
const KEPT_FAULTS = 100;

/** Where each column's value is in the hashed body. */
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
 * shows only against a point from elsewhere: a signed checkpoint, or a head that someone kept.
 */
export class ChainVerifier {
  /** The first hundred. */
  readonly faults: ChainFault[] = [];
  /** How many receipts were checked. */
  checked = 0;
  /** How many checkpoints were checked. */
  checkpoints = 0;
  readonly #keys: ReadonlyMap<string, KeyObject>;
  readonly #expected = new Map<number, ExpectedPoint[]>();
  #last: ChainPoint = { seq: 0, hash: GENESIS_HASH };

  /** @param keys those whose signatures count */
  constructor(keys: readonly Pick<KeyRecord, 'keyId' | 'publicKey'>[]) {
    this.#keys = new Map(
      keys.flatMap(({ keyId, publicKey }) => {
        const key = ed25519PublicKey(publicKey);
        return key ? [[keyId, key]] : [];
      }),
    );
  }

  /** The number of the last receipt that was checked. */
  get lastSeq(): number {
    return this.#last.seq;
  }

  /** A key that is stored beside the trusted ones and is none of them: somebody put it there. */
  untrusted({ keyId, message }: KeyFault): void {
    this.add({ kind: 'untrusted_key', seq: 0, message, keyId });
  }

  /** A checkpoint of this chain; comes before the receipt that it signs. */
  checkpoint(checkpoint: SignedCheckpoint): void {
    this.checkpoints++;
    const { seq } = checkpoint;
    // Without a signature it shows nothing about the chain, whatever it says.
    if (this.isSigned(checkpoint)) this.expect(checkpoint, 'the signed checkpoint');
    else this.fault('bad_signature', seq, `The checkpoint at ${seq} is not signed by a trusted key.`);
  }

  /** A head of this chain that was kept elsewhere; comes before its receipt. */
  expectKept(point: ChainPoint): void {
    this.expect(point, KEPT_ELSEWHERE);
  }

  /** The next receipt, in the order of `seq`; answers what it says, unless that is not what its row says. */
  receipt(receipt: StoredReceipt): ReceiptContent | undefined {
    const { seq, hash } = receipt;
    const expected = this.#last.seq + 1;
    if (seq < expected) throw new Error('receipts must come in the order of their numbers');
    if (seq > expected) {
      this.fault('missing', expected, `${receiptsOf(expected, seq - 1)} missing.`);
      // What was said about these is told by their absence.
      for (const expectedSeq of this.#expected.keys())
        if (expectedSeq < seq) this.#expected.delete(expectedSeq);
    } else if (receipt.prevHash !== this.#last.hash) {
      this.fault(
        'prev_hash_mismatch',
        seq,
        `Receipt ${seq} does not contain the hash of the receipt before it.`,
      );
    }
    if (receiptHash(receipt.prevHash, receipt.body) !== hash) {
      this.fault('hash_mismatch', seq, `The hash of receipt ${seq} does not match its content.`);
    }
    const content = contentOf(receipt.body);
    const columns = content ? differingColumns(receipt, content) : ['content'];
    if (columns.length > 0) {
      this.fault(
        'content_mismatch',
        seq,
        `The content of receipt ${seq} has another ${columns.join(', ')} than its row.`,
      );
    }
    for (const point of this.#expected.get(seq) ?? []) this.add(pointFault(point, hash, seq, point.source));
    this.#expected.delete(seq);
    this.#last = { seq, hash };
    this.checked++;
    return columns.length === 0 ? content : undefined;
  }

  /** After the last receipt: where the chain should end. */
  finish(head: ChainPoint): void {
    const last = this.#last;
    const furthest = [{ ...head, source: 'the head of the chain' }, ...[...this.#expected.values()].flat()]
      .filter((point) => point.seq > last.seq)
      .toSorted((a, b) => b.seq - a.seq)[0];
    if (furthest) this.add(tailCut(last.seq, furthest, furthest.source));
    if (head.seq < last.seq) {
      this.fault(
        'head_mismatch',
        head.seq,
        `The head is ${head.seq}, but the chain continues to ${last.seq}.`,
      );
    } else if (head.seq === last.seq && head.hash !== last.hash) {
      this.fault('head_mismatch', head.seq, `The hash of the head is not the hash of receipt ${head.seq}.`);
    }
  }

  private expect({ seq, hash }: ChainPoint, source: string): void {
    this.#expected.set(seq, [...(this.#expected.get(seq) ?? []), { seq, hash, source }]);
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
 * What a point from elsewhere shows about the chain that is stored: `stored` is the hash there of the point's
 * receipt, undefined when it is not there; `end` is the number of the chain's last receipt.
 */
export function pointFault(
  point: ChainPoint,
  stored: string | undefined,
  end: number,
  source = KEPT_ELSEWHERE,
): ChainFault | undefined {
  const { seq } = point;
  if (stored === point.hash) return undefined;
  if (stored !== undefined) {
    const message = `The chain was rewritten: the hash of receipt ${seq} is not the one in ${source}.`;
    return { kind: 'checkpoint_mismatch', seq, message };
  }
  if (seq > end) return tailCut(end, point, source);
  return { kind: 'missing', seq, message: `${receiptsOf(seq, seq)} missing.` };
}

function tailCut(end: number, { seq }: ChainPoint, source: string): ChainFault {
  const message = `${receiptsOf(end + 1, seq)} missing from the end of the chain: ${source} is at ${seq}.`;
  return { kind: 'tail_cut', seq: end + 1, message };
}

function receiptsOf(first: number, last: number): string {
  return first === last ? `Receipt ${first} is` : `Receipts ${first} to ${last} are`;
}

function differingColumns(receipt: StoredReceipt, content: ReceiptContent): string[] {
  return IN_BODY.filter(([column, inBody]) => inBody(content) !== receipt[column]).map(([column]) => column);
}

/** Undefined for what is no object, or one without details; whatever else it lacks differs from its row. */
function contentOf(body: string): ReceiptContent | undefined {
  try {
    const content: unknown = JSON.parse(body);
    return isObject(content) && isObject(content['details'])
      ? (content as unknown as ReceiptContent)
      : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
