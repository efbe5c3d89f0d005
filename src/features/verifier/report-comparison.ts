import { receiptBody, receiptHash } from '../../platform/receipts/receipt.js';
import type { ExportedReceipt } from './report-receipts.js';

/** A number of the report that its receipts do not show, or a receipt that is not what it was. */
export interface ReportDifference {
  /** Such as `sections.revenue.total`, or `receipts[17]`. */
  path: string;
  said: unknown;
  counted: unknown;
  message: string;
}

/**
 * Collects what differs, and which parts of a report were compared at all: whatever else is in its file was not counted, and is
 * named.
 */
export class ReportComparison {
  readonly differences: ReportDifference[] = [];
  readonly #compared = new Set<string>();
  /** What holds something that was compared. */
  readonly #partly = new Set<string>();

  /** Compares all that is said, and all that is counted, down to single numbers. */
  part(path: string, said: unknown, counted: unknown): void {
    this.compared(path);
    if (isRecord(said) && isRecord(counted)) {
      for (const name of new Set([...Object.keys(said), ...Object.keys(counted)]))
        this.part(within(path, said, name), own(said, name), own(counted, name));
    } else if ((said ?? null) !== (counted ?? null)) {
      this.differs(
        path,
        said,
        counted,
        `${path}: the report says ${shown(said)}, its receipts show ${shown(counted)}.`,
      );
    }
  }

  /** What was compared in another way, such as by its hash. */
  compared(...paths: string[]): void {
    for (const path of paths) {
      this.#compared.add(path);
      for (let whole = wholeOf(path); whole !== '' && !this.#partly.has(whole); whole = wholeOf(whole))
        this.#partly.add(whole);
    }
  }

  differs(path: string, said: unknown, counted: unknown, message: string): void {
    this.differences.push({ path, said, counted, message });
  }

  /** A receipt that is not the one that was hashed, or does not follow the one before it. */
  chain(
    receipt: ExportedReceipt,
    before: ExportedReceipt | undefined,
    workspaceId: string | undefined,
  ): void {
    const { seq, prevHash, hash, ...content } = receipt;
    if (prevHash === undefined || hash === undefined) return;
    const path = `receipts[${seq}]`;
    if (before?.seq === seq - 1 && before.hash !== undefined && before.hash !== prevHash) {
      const message = `Receipt ${seq} does not contain the hash of the receipt before it.`;
      this.differs(path, prevHash, before.hash, message);
    }
    if (workspaceId === undefined) return;
    const counted = receiptHash(prevHash, receiptBody({ ...content, workspaceId }));
    if (counted === hash) return;
    this.differs(path, hash, counted, `Receipt ${seq} was changed: its hash does not match its content.`);
  }

  /** The parts of the report that nothing was held against, each once whatever list it is in. */
  notComparedOf(report: object): string[] {
    return [...new Set(this.notComparedIn('', report).map((path) => path.replaceAll(/\[\d+\]/g, '[]')))];
  }

  private notComparedIn(path: string, value: unknown): string[] {
    if (this.#compared.has(path)) return [];
    if (!isRecord(value)) return [path];
    if (Array.isArray(value) && value.length === 0) return [];
    const names = Object.keys(value).map((name) => [within(path, value, name), own(value, name)] as const);
    if (path !== '' && !this.#partly.has(path)) return [path];
    return names.flatMap(([name, part]) => this.notComparedIn(name, part));
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** What a file has of its own under a name: `constructor` is no part of one. */
function own(value: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/** The path of a part; a name such as "revenue.total" passes for no path. */
function within(path: string, whole: object, name: string): string {
  if (Array.isArray(whole)) return `${path}[${name}]`;
  if (!/^\w+$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

/** The path of what a part is in. */
function wholeOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('.'), path.lastIndexOf('[')));
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
