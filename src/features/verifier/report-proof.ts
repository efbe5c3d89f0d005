import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import { type ReceiptContent, receiptBody, receiptHash } from '../../platform/receipts/receipt.js';
import { COST_CURRENCY } from '../terms/terms.js';
import { OpenWork } from './open-work.js';
import { FiguresOfReceipts, type ReportFigures } from './report-figures.js';

/** A receipt as an export has it. */
export type ExportedReceipt = Omit<ReceiptContent, 'workspaceId'> & {
  seq: number;
  prevHash?: string;
  hash?: string;
};

/** As much of a Daily Report as is counted again; a section that is switched off is not there. */
export interface CountableReport {
  reportId: string;
  date: string;
  partial: boolean;
  /** Of the workspace, in which single numbers of revenue are given. */
  currency: string;
  sections: {
    revenue?: ReportFigures['revenue'];
    agentActivity?: ReportFigures['agentActivity'];
    approvalQueue?: { pending: number; urgent: number };
    trustIntelligence?: ReportFigures['trustIntelligence'];
    costLedger?: ReportFigures['costLedger'] & { budget?: unknown };
    guardianState?: { mode: string; pendingMoves: number; blockedMoves: number };
    tomorrowQueue?: { total: number };
  };
  /** The receipts of its day; none where `to` is less than `from`. */
  receiptRange: { from: number; to: number };
  /** The last receipt when it was made: what is open is told as of then. */
  receiptHead: { seq: number; hash: string };
}

/** A number of the report that its receipts do not show, or a receipt that is not what it was. */
interface ReportDifference {
  /** Such as `sections.revenue.total`, or `receipts[17]`. */
  path: string;
  said: unknown;
  counted: unknown;
  message: string;
}

/** What counting again has shown. */
export interface ReportCount {
  /** Receipts of the day that were counted. */
  receipts: number;
  differences: ReportDifference[];
  /** What could not be counted since receipts are missing; that is no fault of the report. */
  notCounted: string[];
}

/**
 * Counts every number of a report again from exported receipts, without the service, and names what differs. The numbers of
 * the day need the receipts of `receiptRange`; what was open needs all of them from the first up to `receiptHead`.
 *
 * @param receipts in their order; those behind the head say, in the receipt of the report itself, what the report was
 * @param workspaceId the id of the workspace, which the hashes of receipts cover; without it they are not computed again
 */
export function countReport(
  receipts: Iterable<ExportedReceipt>,
  report: CountableReport,
  workspaceId?: string,
): ReportCount {
  const { from, to } = report.receiptRange;
  const { seq: headSeq, hash: headHash } = report.receiptHead;
  const figures = new FiguresOfReceipts();
  const open = new OpenWork();
  const found = new Comparison();
  let counted = 0;
  let own: ExportedReceipt | undefined;
  let before: ExportedReceipt | undefined;
  for (const receipt of receipts) {
    found.chain(receipt, before, workspaceId);
    before = receipt;
    const { seq } = receipt;
    if (seq <= headSeq) open.receipt(seq, receipt);
    if (seq >= from && seq <= to) {
      counted++;
      figures.receipt(receipt);
    }
    if (seq === headSeq && receipt.hash !== undefined)
      found.number('receiptHead.hash', headHash, receipt.hash);
    if (receipt.action === 'report.generated' && receipt.entity.id === report.reportId) own = receipt;
  }
  const isDayWhole = counted === Math.max(0, to - from + 1);
  if (isDayWhole) compareDay(report, figures, found);
  else found.notCounted.push(`the numbers of the day: receipts from ${from} to ${to} are missing`);
  if (open.isWhole && (before?.seq ?? 0) >= headSeq) compareOpen(report, open, found);
  else found.notCounted.push(`what was open: not every receipt from 1 to ${headSeq} is there`);
  if (report.partial) return found.result(counted);
  if (own) compareOwn(report, own, open, found);
  else found.notCounted.push('what the receipt of the report says: it is not there');
  return found.result(counted);
}

/** What the receipt of a report holds of it, besides the numbers that other receipts show. */
export interface ReportReceiptDetails {
  date: string;
  zone: string;
  receiptRange: { from: number; to: number };
  receiptHead: { seq: number; hash: string };
  /** Of {@link hashOfReport}. */
  contentHash: string;
  urgentCount: number;
  /** A hash for each urgent approval, up to 500 of them, since ids of a team's approvals are for the team. */
  urgent: string[];
}

/** The hash that the receipt of a report names: of the sections as they are shown, with the range and head they stand for. */
export function hashOfReport(
  report: Pick<CountableReport, 'date' | 'currency' | 'sections' | 'receiptRange' | 'receiptHead'>,
): string {
  const { date, currency, sections, receiptRange, receiptHead } = report;
  return sha256(canonicalJson({ date, currency, sections, receiptRange, receiptHead }));
}

/** How the receipt of a report names an approval. */
export function hashOfApproval(approvalId: string): string {
  return sha256(approvalId).slice(0, 16);
}

function compareDay(
  { sections, currency }: CountableReport,
  all: FiguresOfReceipts,
  found: Comparison,
): void {
  const { revenue, agentActivity, trustIntelligence, guardianState, costLedger } = sections;
  // Reports that were made before costs were told in US dollars told them in the currency of the workspace.
  const counted = all.in(currency, costLedger?.currency === currency ? currency : COST_CURRENCY);
  if (revenue) {
    const { total, currency: named, byCurrency, eventsTotal } = revenue;
    found.figures('sections.revenue', { total, currency: named, byCurrency, eventsTotal }, counted.revenue);
  }
  if (agentActivity) found.figures('sections.agentActivity', agentActivity, counted.agentActivity);
  if (trustIntelligence)
    found.figures('sections.trustIntelligence', trustIntelligence, counted.trustIntelligence);
  if (guardianState) {
    const { blockedMoves } = counted.guardianState;
    found.number('sections.guardianState.blockedMoves', guardianState.blockedMoves, blockedMoves);
  }
  if (costLedger) {
    const { budget: _budget, ...said } = costLedger;
    found.figures('sections.costLedger', said, counted.costLedger);
  }
}

function compareOpen({ sections }: CountableReport, open: OpenWork, found: Comparison): void {
  const { approvalQueue, guardianState, tomorrowQueue } = sections;
  const { mode, pending, pendingMoves, queued } = open.figures;
  if (approvalQueue) found.number('sections.approvalQueue.pending', approvalQueue.pending, pending);
  if (guardianState) {
    found.number('sections.guardianState.mode', guardianState.mode, mode);
    found.number('sections.guardianState.pendingMoves', guardianState.pendingMoves, pendingMoves);
  }
  if (tomorrowQueue) found.number('sections.tomorrowQueue.total', tomorrowQueue.total, queued);
}

function compareOwn(
  report: CountableReport,
  { seq, details }: ExportedReceipt,
  open: OpenWork,
  found: Comparison,
): void {
  const { contentHash, urgent, urgentCount } = details as unknown as ReportReceiptDetails;
  found.number(`receipts[${seq}].contentHash`, hashOfReport(report), contentHash);
  const { approvalQueue } = report.sections;
  if (!approvalQueue || !Array.isArray(urgent)) return;
  found.number('sections.approvalQueue.urgent', approvalQueue.urgent, urgentCount);
  if (!open.isWhole) return;
  const pending = new Set(open.pendingIds.map(hashOfApproval));
  const strangers = urgent.filter((hash) => !pending.has(hash)).length;
  found.number(
    `receipts[${seq}].urgent`,
    'approvals that wait',
    strangers === 0 ? 'approvals that wait' : strangers,
  );
}

/** Collects what differs. */
class Comparison {
  readonly differences: ReportDifference[] = [];
  readonly notCounted: string[] = [];

  result(receipts: number): ReportCount {
    return { receipts, differences: this.differences, notCounted: this.notCounted };
  }

  number(path: string, said: unknown, counted: unknown): void {
    if (said === counted) return;
    const message = `${path}: the report says ${shown(said)}, its receipts show ${shown(counted)}.`;
    this.differences.push({ path, said, counted, message });
  }

  /** Compares all that is said, and all that is counted, down to single numbers. */
  figures(path: string, said: unknown, counted: unknown): void {
    if (!isRecord(said) || !isRecord(counted)) {
      this.number(path, said ?? null, counted ?? null);
      return;
    }
    for (const name of new Set([...Object.keys(said), ...Object.keys(counted)]))
      this.figures(Array.isArray(said) ? `${path}[${name}]` : `${path}.${name}`, said[name], counted[name]);
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
      this.differences.push({ path, said: prevHash, counted: before.hash, message });
    }
    if (workspaceId === undefined) return;
    const counted = receiptHash(prevHash, receiptBody({ ...content, workspaceId }));
    if (counted === hash) return;
    const message = `Receipt ${seq} was changed: its hash does not match its content.`;
    this.differences.push({ path, said: hash, counted, message });
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
