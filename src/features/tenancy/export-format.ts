import { createHash, type Hash } from 'node:crypto';
import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import type { KeyRecord } from '../../platform/receipts/key-chain.js';
import type { ChainPoint } from '../../platform/receipts/verify-chain.js';

/** Names the format; a reader refuses any other. */
export const EXPORT_FORMAT = 'consigliere-export/1';

/** A line with the SHA-256 of all before it comes after so many others, so that a change can be told to within as many. */
const LINES_A_DIGEST = 1_000;

/** The first line: what the export is of, and what is needed to verify it. */
export interface Manifest {
  format: string;
  exportId: string;
  workspaceId: string;
  workspaceName: string;
  /** Unix milliseconds. */
  at: number;
  receiptHead: ChainPoint;
  signingKeys: KeyRecord[];
  /** The tables whose records follow, in their order. */
  tables: string[];
  /** What is not in it, and why: tables, and columns as `table.column`. */
  leftOut: Record<string, string>;
}

/** What the last line says of those before it. */
export interface ExportEnd {
  /** How many there are of each kind: records by table, `receipts`, `checkpoints`. */
  counts: Record<string, number>;
  /** Of all bytes before this line. */
  sha256: string;
  keyId: string;
  /** Ed25519 over {@link endText}, base64url. */
  signature: string;
}

/** What the signature of the last line covers. */
export function endText(
  { exportId, workspaceId }: Manifest,
  { counts, sha256 }: Omit<ExportEnd, 'keyId' | 'signature'>,
): string {
  return canonicalJson({ format: EXPORT_FORMAT, exportId, workspaceId, counts, sha256 });
}

/** Numbers the lines of an export and hashes them, one by one. Every line is `{"n":…,"kind":…,…}`. */
export class ExportLines {
  readonly counts: Record<string, number> = {};
  bytes = 0;
  n = 0;
  /** What the last line gives as the SHA-256 of all before it. */
  digest: string | undefined;
  readonly #hash: Hash = createHash('sha256');

  manifest(manifest: Manifest): string {
    for (const kind of [...manifest.tables, 'receipts', 'checkpoints']) this.counts[kind] = 0;
    return this.line('manifest', `"manifest":${JSON.stringify(manifest)}`);
  }

  /** @param row as JSON, the way the database wrote it: no number is read and written again */
  record(table: string, row: string): string {
    this.counts[table]!++;
    return this.counted('record', `"table":${JSON.stringify(table)},"row":${row}`);
  }

  receipt(receipt: object): string {
    this.counts['receipts']!++;
    return this.counted('receipt', `"receipt":${JSON.stringify(receipt)}`);
  }

  checkpoint(checkpoint: object): string {
    this.counts['checkpoints']!++;
    return this.counted('checkpoint', `"checkpoint":${JSON.stringify(checkpoint)}`);
  }

  end(end: ExportEnd): string {
    this.digest = end.sha256;
    return this.line('end', `"end":${JSON.stringify(end)}`);
  }

  /** Of all lines so far. */
  get sha256(): string {
    return this.#hash.copy().digest('hex');
  }

  private counted(kind: string, rest: string): string {
    const line = this.line(kind, rest);
    if (this.n % LINES_A_DIGEST !== 0) return line;
    return line + this.line('digest', `"sha256":"${this.sha256}"`);
  }

  private line(kind: string, rest: string): string {
    const line = `{"n":${++this.n},"kind":"${kind}",${rest}}\n`;
    this.#hash.update(line);
    this.bytes += Buffer.byteLength(line);
    return line;
  }
}
