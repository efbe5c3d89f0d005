import type { ReceiptContent } from '../../platform/receipts/receipt.js';
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
