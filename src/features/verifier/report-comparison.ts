import { type ReceiptContent, receiptBody, receiptHash } from '../../platform/receipts/receipt.js';
import type { CountableReport } from './countable-report.js';
import { MOST_LISTED } from './daily-report.js';
import { OpenWork } from './open-work.js';
import { FiguresOfReceipts } from './report-figures.js';

/** A receipt as an export has it. */
export type ExportedReceipt = Omit<ReceiptContent, 'workspaceId'> & {
  seq: number;
  prevHash?: string;
  hash?: string;
};

/** Receipts of what a report lists. */
const LISTED = ['revenue.recorded', 'revenue.reversed'];

/** A receipt of a section that a capo was asked for. */
export interface WrittenText {
  seq: number;
  reportId: string;
  sectionId: unknown;
  status: unknown;
  /** Receipts that were written by earlier versions have none. */
  contentHash: unknown;
}

/** What one pass over the receipts leaves of them. */
export class ReceiptsOfReport {
  readonly figures = new FiguresOfReceipts();
  readonly open = new OpenWork();
  /** The revenue of the day, as much as is listed. */
  readonly events: Record<string, unknown>[] = [];
  /** The receipts of reports that were made. */
  readonly made: ExportedReceipt[] = [];
  readonly texts: WrittenText[] = [];
  ofDay = 0;
  last: ExportedReceipt | undefined;

  receipt(receipt: ExportedReceipt, { receiptRange, receiptHead }: CountableReport): void {
    const { seq, action, entity, details } = receipt;
    this.last = receipt;
    if (seq <= receiptHead.seq) this.open.receipt(seq, receipt);
    if (seq >= receiptRange.from && seq <= receiptRange.to) {
      this.ofDay++;
      this.figures.receipt(receipt);
      if (LISTED.includes(action) && this.events.length < MOST_LISTED) this.events.push(eventOf(receipt));
    }
    if (action === 'report.generated') this.made.push(receipt);
    if (action === 'report.section_written') {
      const { sectionId, status, contentHash } = details;
      this.texts.push({ seq, reportId: entity.id, sectionId, status, contentHash });
    }
  }
}

/** As much of a listed event as its receipt shows. */
function eventOf({ entity, details }: ExportedReceipt): Record<string, unknown> {
  const { amount, currency, source } = details;
  const occurredAt = new Date(Number(details['occurredAt']));
  return {
    eventId: entity.id,
    amount,
    currency,
    source,
    ...(!Number.isNaN(occurredAt.getTime()) && { occurredAt: occurredAt.toISOString() }),
  };
}

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
