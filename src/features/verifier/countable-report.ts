import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import type { DayOfAgents, DayOfGuardian, ReportFigures } from './report-figures.js';

/** A section of the workspace's own, as a report has it. */
export interface ReportedText {
  sectionId: string;
  title: string;
  capo: string;
  status: string;
  body: string | null;
  error: string | null;
}

/** As much of a Daily Report as is counted again; a section that is switched off is not there. */
export interface CountableReport {
  reportId: string;
  date: string;
  timezone: string;
  generatedAt: string;
  partial: boolean;
  /** Of the workspace, in which single numbers of revenue are given. */
  currency: string;
  headline: string;
  sections: {
    revenue?: ReportFigures['revenue'] & { events?: unknown };
    agentActivity?: Omit<ReportFigures['agentActivity'], keyof DayOfAgents> & Partial<DayOfAgents>;
    approvalQueue?: { pending: number; urgent: number };
    trustIntelligence?: ReportFigures['trustIntelligence'];
    costLedger?: ReportFigures['costLedger'] & { budget?: unknown };
    guardianState?: { mode: string; pendingMoves: number; blockedMoves: number } & Partial<DayOfGuardian>;
    tomorrowQueue?: { total: number };
  };
  customSections: ReportedText[];
  /** The receipts of its day; none where `to` is less than `from`. */
  receiptRange: { from: number; to: number };
  /** The last receipt when it was made: what is open is told as of then. */
  receiptHead: { seq: number; hash: string };
}

/** What the receipt of a report holds of it, besides the numbers that other receipts show. */
export interface ReportReceiptDetails {
  date: string;
  zone: string;
  /** Receipts that were written by earlier versions do not name it. */
  generatedAt?: string;
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

/** The hash that the receipt of a section names: of all that a reader sees of it. */
export function hashOfText({ sectionId, title, capo, status, body, error }: ReportedText): string {
  return sha256(canonicalJson({ sectionId, title, capo, status, body, error }));
}

/** How the receipt of a report names an approval. */
export function hashOfApproval(approvalId: string): string {
  return sha256(approvalId).slice(0, 16);
}
