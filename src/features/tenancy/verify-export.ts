import { createHash, type Hash, verify } from 'node:crypto';
import { examineKeys, ed25519PublicKey } from '../../platform/receipts/key-chain.js';
import type { ReceiptContent } from '../../platform/receipts/receipt.js';
import {
  type ChainPoint,
  ChainVerifier,
  type SignedCheckpoint,
  type StoredReceipt,
} from '../../platform/receipts/verify-chain.js';
import { ReceiptProofs } from '../verifier/verifier.js';
import { EXPORT_FORMAT, endText, type ExportEnd, type Manifest } from './export-format.js';

/** What an export that has no fault shows. */
export interface VerifiedExport {
  manifest: Manifest;
  end: ExportEnd;
  lines: number;
  /** What its receipts show. */
  proofs: ReceiptProofs;
}

/** What else to do with an export. */
interface ExportOptions {
  /** The head of the chain as it was kept elsewhere, which the export must still contain. */
  heldHead?: ChainPoint;
  /** Hears of each receipt, in their order. */
  onReceipt?: (receipt: ReceiptContent & ChainPoint & { prevHash: string }) => void;
}

/** A line, read; what it says beside its number depends on its kind. */
interface Line {
  n: number;
  kind: string;
  manifest?: Manifest;
  table?: string;
  receipt?: Omit<StoredReceipt, 'workspaceId'>;
  checkpoint?: Omit<SignedCheckpoint, 'workspaceId'>;
  sha256?: string;
  end?: ExportEnd;
}

const NO_LINE = 'It is no line of an export.';

/** The first fault of an export, with the line at which it shows. */
export class ExportFault extends Error {
  constructor(line: number, message: string) {
    super(`Line ${line}: ${message}`);
  }
}

/**
 * Checks an export line by line, in memory that does not grow with it and without the service: numbers and digests of its
 * lines, the chain of receipts with its checkpoints, and the signature over the whole.
 */
class ExportVerifier {
  #n = 0;
  /** The last line that a digest vouches for. */
  #vouched = 0;
  readonly #hash: Hash = createHash('sha256');
  readonly #counts: Record<string, number> = {};
  #manifest: Manifest | undefined;
  #end: ExportEnd | undefined;
  #chain: ChainVerifier | undefined;
  readonly #proofs = new ReceiptProofs();

  constructor(private readonly options: ExportOptions) {}

  /** The next line, with its line break. @throws ExportFault */
  line(bytes: Buffer): void {
    const expected = this.#n + 1;
    if (this.#end) throw new ExportFault(expected, 'There is something behind the last line of the export.');
    const line = parsed(bytes, expected);
    if (line.n !== expected) {
      const message =
        line.n > expected
          ? `${line.n - expected === 1 ? `Line ${expected} is` : `Lines ${expected} to ${line.n - 1} are`} missing.`
          : `It has the number ${line.n}; a line was added, or lines were exchanged.`;
      throw new ExportFault(expected, message);
    }
    try {
      this.read(line);
    } catch (error) {
      // What has not even the properties of such a line is somebody else's.
      throw error instanceof ExportFault ? error : new ExportFault(expected, NO_LINE);
    }
    this.#hash.update(bytes);
    this.#n = expected;
  }

  /** After the last line; `isCut` when a piece of a line followed. @throws ExportFault */
  finish(isCut = false): VerifiedExport {
    if (isCut || !this.#manifest || !this.#end) {
      throw new ExportFault(this.#n + 1, 'The export ends here, without its last line: its end was cut off.');
    }
    return { manifest: this.#manifest, end: this.#end, lines: this.#n, proofs: this.#proofs };
  }

  private read(line: Line): void {
    const { n, kind } = line;
    if (n === 1) return this.begin(line.manifest);
    const chain = this.#chain!;
    const { workspaceId } = this.#manifest!;
    if (kind === 'record' && typeof line.table === 'string' && line.table in this.#counts) {
      this.#counts[line.table]!++;
    } else if (kind === 'receipt' && isObject(line.receipt)) {
      this.#counts['receipts']!++;
      if (!(line.receipt.seq > chain.lastSeq))
        throw new ExportFault(n, 'The receipts are not in their order.');
      const content = chain.receipt(Object.assign(line.receipt, { workspaceId }));
      this.assertChain(n);
      const { seq, prevHash, hash } = line.receipt;
      this.#proofs.receipt(seq, content!);
      this.options.onReceipt?.({ ...content!, seq, prevHash, hash });
    } else if (kind === 'checkpoint' && isObject(line.checkpoint)) {
      this.#counts['checkpoints']!++;
      chain.checkpoint({ ...line.checkpoint, workspaceId });
      this.assertChain(n);
    } else if (kind === 'digest') {
      this.assertDigest(n, line.sha256);
    } else if (kind === 'end' && isObject(line.end)) {
      this.conclude(n, line.end);
    } else {
      throw new ExportFault(n, NO_LINE);
    }
  }

  private begin(manifest: Manifest | undefined): void {
    if (!isObject(manifest) || manifest.format !== EXPORT_FORMAT) {
      throw new ExportFault(1, `It is no manifest of an export in the format ${EXPORT_FORMAT}.`);
    }
    const { trusted, faults } = examineKeys(
      manifest.signingKeys,
      (keyId) => manifest.signingKeys.find((key) => key.keyId === keyId)?.publicKey,
    );
    if (faults[0]) throw new ExportFault(1, faults[0].message);
    for (const kind of [...manifest.tables, 'receipts', 'checkpoints']) this.#counts[kind] = 0;
    this.#manifest = manifest;
    this.#chain = new ChainVerifier(trusted);
    if (this.options.heldHead) this.#chain.expectKept(this.options.heldHead);
  }

  /** The last line: everything that was said of the rest must hold. */
  private conclude(n: number, end: ExportEnd): void {
    this.assertDigest(n, end.sha256);
    this.#chain!.finish(this.#manifest!.receiptHead);
    this.assertChain(n);
    for (const [kind, count] of Object.entries(this.#counts)) {
      const said = end.counts[kind];
      if (said !== count)
        throw new ExportFault(n, `There are ${count} lines of ${kind}; the last line says ${said}.`);
    }
    const key = this.#manifest!.signingKeys.find(({ keyId }) => keyId === end.keyId);
    const publicKey = key && ed25519PublicKey(key.publicKey);
    const signature = Buffer.from(end.signature, 'base64url');
    if (!publicKey || !verify(null, Buffer.from(endText(this.#manifest!, end)), publicKey, signature)) {
      throw new ExportFault(n, 'The signature does not belong to this export.');
    }
    this.#end = end;
  }

  private assertDigest(n: number, said: string | undefined): void {
    if (this.#hash.copy().digest('hex') !== said) {
      const message = `Something was changed between line ${this.#vouched + 1} and this one: the SHA-256 of the lines before it is another.`;
      throw new ExportFault(n, message);
    }
    this.#vouched = n;
  }

  private assertChain(n: number): void {
    const [fault] = this.#chain!.faults;
    if (fault) throw new ExportFault(n, fault.message);
  }
}

/** Verifies an export as it comes, in pieces of any size. @throws ExportFault with the first fault */
export async function verifyExport(
  pieces: AsyncIterable<Uint8Array>,
  options: ExportOptions = {},
): Promise<VerifiedExport> {
  const verifier = new ExportVerifier(options);
  let rest: Uint8Array[] = [];
  for await (const given of pieces) {
    const piece = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
    let from = 0;
    for (let to = piece.indexOf(10) + 1; to > 0; to = piece.indexOf(10, from) + 1) {
      const end = piece.subarray(from, to);
      verifier.line(rest.length === 0 ? end : Buffer.concat([...rest, end]));
      rest = [];
      from = to;
    }
    if (from < piece.length) rest.push(piece.subarray(from));
  }
  // A line that was cut is no line: it is the end that is missing.
  return verifier.finish(rest.length > 0);
}

function parsed(bytes: Buffer, n: number): Line {
  try {
    const line: unknown = JSON.parse(bytes.toString());
    if (isObject(line)) return line as unknown as Line;
  } catch {
    // Told below.
  }
  throw new ExportFault(n, 'It is not the JSON of a line of an export.');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
