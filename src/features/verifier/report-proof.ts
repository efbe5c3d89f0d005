import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import { COST_CURRENCY } from '../terms/terms.js';
import {
  type CountableReport,
  hashOfApproval,
  hashOfReport,
  hashOfText,
  type ReportedText,
  type ReportReceiptDetails,
} from './countable-report.js';
import { headlineOf, reportIdOf } from './daily-report.js';
import type { OpenWork } from './open-work.js';
import type { ReportFigures } from './report-figures.js';
import {
  isRecord,
  ReportComparison,
  type ReportDifference,
  type ExportedReceipt,
  ReceiptsOfReport,
  type WrittenText,
} from './report-comparison.js';

/** What counting again has shown. */
export interface ReportCount {
  /** Receipts of the day that were counted. */
  receipts: number;
  differences: ReportDifference[];
  /** What could not be counted, since receipts are missing or none shows it; that is no fault of the report. */
  notCounted: string[];
}

/** Why parts of a report were held against nothing. */
const UNSHOWN = 'no receipt in the file shows that';
const UNMADE = 'only the receipt of the making of a report shows that, and none in the file is of this one';

/**
 * Counts a report again from exported receipts as they come, without the service, and names what differs. The numbers of the day need the
 * receipts of `receiptRange`; what was open needs all of them from the first up to `receiptHead`; and what no other receipt shows
 * needs the one that was written as the report was made. Unchecked parts of the report are named, too.
 */
export class ReportCounter {
  readonly #read = new ReceiptsOfReport();
  readonly #found = new ReportComparison();

  /** @param workspaceId the id of the workspace, which the hashes of receipts cover; without it they are not computed again */
  constructor(
    private readonly report: CountableReport,
    private readonly workspaceId?: string,
  ) {}

  /** The next receipt. */
  receipt(receipt: ExportedReceipt): void {
    const { receiptHead } = this.report;
    this.#found.chain(receipt, this.#read.last, this.workspaceId);
    this.#read.receipt(receipt, this.report);
    if (receipt.seq === receiptHead.seq && receipt.hash !== undefined)
      this.#found.part('receiptHead', receiptHead, { seq: receipt.seq, hash: receipt.hash });
  }

  /** After the last receipt. */
  count(): ReportCount {
    return comparedWith(this.report, this.#read, this.#found, this.workspaceId);
  }
}

/** The same from receipts that are all there. @param receipts in their order */
export function countReport(
  receipts: Iterable<ExportedReceipt>,
  report: CountableReport,
  workspaceId?: string,
): ReportCount {
  const counter = new ReportCounter(report, workspaceId);
  for (const receipt of receipts) counter.receipt(receipt);
  return counter.count();
}

function comparedWith(
  report: CountableReport,
  read: ReceiptsOfReport,
  found: ReportComparison,
  workspaceId: string | undefined,
): ReportCount {
  const { from, to } = report.receiptRange;
  const { seq: headSeq } = report.receiptHead;
  const notCounted: string[] = [];
  const isDayWhole = read.ofDay === Math.max(0, to - from + 1);
  if (isDayWhole) compareDay(report, read, found);
  else notCounted.push(`the numbers of the day: receipts from ${from} to ${to} are missing`);
  const isOpenWhole = read.open.isWhole && (read.last?.seq ?? 0) >= headSeq;
  if (isOpenWhole) compareOpen(report, read.open, found);
  else notCounted.push(`what was open: not every receipt from 1 to ${headSeq} is there`);
  const made = madeOf(report, read.made);
  const reportId = workspaceId === undefined ? made?.entity.id : reportIdOf(workspaceId, report.date);
  if (reportId !== undefined) found.part('reportId', report.reportId, reportId);
  if (made) compareMade(report, made, { open: read.open, isOpenWhole }, found);
  else notPassedOffAsPartial(report, read.made, found);
  const textsOf = made?.entity.id ?? report.reportId;
  compareTexts(
    report,
    read.texts.filter((text) => text.reportId === textsOf),
    found,
  );
  if (isDayWhole && isOpenWhole) compareHeadline(report, read, made, found);
  const rest = found.notComparedOf(report);
  if (rest.length > 0) notCounted.push(`${rest.join(', ')}: ${made ? UNSHOWN : UNMADE}`);
  return { receipts: read.ofDay, differences: found.differences, notCounted };
}

function compareDay(
  { sections, currency }: CountableReport,
  { figures, events }: ReceiptsOfReport,
  found: ReportComparison,
): void {
  const { revenue, agentActivity, trustIntelligence, guardianState, costLedger } = sections;
  // Reports that were made before costs were told in US dollars told them in the currency of the workspace.
  const counted = figures.in(currency, costLedger?.currency === currency ? currency : COST_CURRENCY);
  if (revenue) {
    parts('sections.revenue', revenue, counted.revenue, found);
    const listed = Array.isArray(revenue.events) ? (revenue.events as unknown[]) : [];
    if (listed.length !== events.length) {
      const message = `sections.revenue.events: the report lists ${listed.length}, its receipts show ${events.length}.`;
      found.differs('sections.revenue.events', listed.length, events.length, message);
    }
    for (const [at, event] of events.entries()) {
      const said = listed[at];
      if (isRecord(said)) parts(`sections.revenue.events[${at}]`, said, event, found);
    }
  }
  if (agentActivity) {
    found.part('sections.agentActivity', agentActivity, asTold(counted.agentActivity, agentActivity));
  }
  if (trustIntelligence)
    found.part('sections.trustIntelligence', trustIntelligence, counted.trustIntelligence);
  if (guardianState) {
    const { blockedMoves } = counted.guardianState;
    parts(
      'sections.guardianState',
      guardianState,
      'kills' in guardianState ? counted.guardianState : { blockedMoves },
      found,
    );
  }
  if (costLedger) parts('sections.costLedger', costLedger, counted.costLedger, found);
}

/** As much as the report tells: those that were made by earlier versions tell less. */
function asTold(counted: ReportFigures['agentActivity'], said: object): object {
  if ('outsideAgents' in said) return counted;
  const { outsideAgents: _agents, ...told } = counted;
  if ('notReached' in said) return told;
  const { notReached: _acts, notReachedTotal: _total, ...known } = told;
  if ('movesSent' in said) return known;
  const { directivesExecuted, movesApproved, movesBlocked, capos } = counted;
  return { directivesExecuted, movesApproved, movesBlocked, capos };
}

function compareOpen({ sections }: CountableReport, open: OpenWork, found: ReportComparison): void {
  const { approvalQueue, guardianState, tomorrowQueue } = sections;
  const { mode, pending, pendingMoves, queued } = open.figures;
  if (approvalQueue) found.part('sections.approvalQueue.pending', approvalQueue.pending, pending);
  if (guardianState) parts('sections.guardianState', guardianState, { mode, pendingMoves }, found);
  if (tomorrowQueue) found.part('sections.tomorrowQueue.total', tomorrowQueue.total, queued);
}

/** Each of the parts that are counted; what else is said beside them is another's to compare. */
function parts(path: string, said: object, counted: object, found: ReportComparison): void {
  for (const [name, value] of Object.entries(counted))
    found.part(`${path}.${name}`, (said as Record<string, unknown>)[name], value);
}

/**
 * The receipt of the report, whatever the report says of itself: of one that was made from the same receipts, else of its id or its
 * day. A partial report is none that was made, unless it was made from the same receipts.
 */
function madeOf(
  { reportId, date, partial, receiptRange, receiptHead }: CountableReport,
  made: readonly ExportedReceipt[],
): ExportedReceipt | undefined {
  const isOfDay = ({ details }: ExportedReceipt) => details['date'] === date;
  // Days without receipts have the same range.
  const isOfRange = ({ details }: ExportedReceipt) =>
    receiptRange.to >= receiptRange.from && isSame(details['receiptRange'], receiptRange);
  const atHead = made.filter(({ details }) => isSame(details['receiptHead'], receiptHead));
  const same =
    atHead.find((one) => isOfDay(one) && isSame(one.details['receiptRange'], receiptRange)) ??
    atHead.find(isOfRange);
  if (same || partial) return same;
  return (
    made.findLast(({ entity }) => entity.id === reportId) ??
    made.findLast(isOfDay) ??
    made.findLast(isOfRange)
  );
}

/** Once a report was made, everybody gets that one: it is partial no more. */
function notPassedOffAsPartial(
  { reportId, date, partial, receiptHead }: CountableReport,
  made: readonly ExportedReceipt[],
  found: ReportComparison,
): void {
  if (!partial) return;
  const before = made.find(
    ({ seq, entity, details }) =>
      seq <= receiptHead.seq && (entity.id === reportId || details['date'] === date),
  );
  if (!before) return;
  found.compared('partial');
  const message = `partial: the report says that it had not been made at receipt ${receiptHead.seq}, but receipt ${before.seq} shows that it had.`;
  found.differs('partial', true, false, message);
}

function compareMade(
  report: CountableReport,
  { seq, details }: ExportedReceipt,
  { open, isOpenWhole }: { open: OpenWork; isOpenWhole: boolean },
  found: ReportComparison,
): void {
  const { contentHash, urgent, urgentCount, zone, generatedAt } = details as unknown as ReportReceiptDetails;
  found.part('date', report.date, details['date']);
  found.part('timezone', report.timezone, zone);
  const hash = hashOfReport(report);
  if (hash !== contentHash) {
    const message = `The report is not as it was made: receipt ${seq} holds the hash of other contents.`;
    found.differs(`receipts[${seq}].contentHash`, hash, contentHash, message);
  }
  found.compared('currency', 'sections', 'receiptRange', 'receiptHead');
  // Who asked for it before it was made has got the same at another time.
  if (!report.partial) {
    found.compared('partial');
    if (generatedAt !== undefined) found.part('generatedAt', report.generatedAt, generatedAt);
  }
  const { approvalQueue } = report.sections;
  if (!approvalQueue || !Array.isArray(urgent)) return;
  found.part('sections.approvalQueue.urgent', approvalQueue.urgent, urgentCount);
  if (!isOpenWhole) return;
  const pending = new Set(open.pendingIds.map(hashOfApproval));
  const strangers = urgent.filter((one) => !pending.has(one)).length;
  found.part(
    `receipts[${seq}].urgent`,
    'approvals that wait',
    strangers === 0 ? 'approvals that wait' : strangers,
  );
}

/** What capos wrote, against the receipts of their writing. */
function compareTexts(
  { customSections, partial }: CountableReport,
  written: readonly WrittenText[],
  found: ReportComparison,
): void {
  for (const [at, section] of customSections.entries()) {
    const path = `customSections[${at}]`;
    const hash = hashOfText(section);
    const receipts = written.filter(
      ({ sectionId, contentHash }) => sectionId === section.sectionId && contentHash !== undefined,
    );
    const last = receipts.at(-1);
    if (receipts.some(({ contentHash }) => contentHash === hash)) found.compared(path);
    else if (last && isContradicted(section, last)) {
      const message = `${path}: receipt ${last.seq} holds the hash of another text or outcome.`;
      found.differs(path, hash, last.contentHash, message);
    }
  }
  if (partial) return;
  const named = new Set<unknown>(customSections.map(({ sectionId }) => sectionId));
  for (const { sectionId, seq } of written) {
    if (named.has(sectionId)) continue;
    const message = `customSections: the report lacks the section ${String(sectionId)} of receipt ${seq}.`;
    found.differs('customSections', null, sectionId, message);
  }
}

/** A report may have been saved before the section was written, or have gone without one that was late. */
function isContradicted({ status, body }: ReportedText, written: WrittenText): boolean {
  if (body !== null) return true;
  if (status === 'pending') return false;
  return status !== 'late' || written.status === 'done';
}

function compareHeadline(
  { headline, sections, currency }: CountableReport,
  { figures, open }: ReceiptsOfReport,
  made: ExportedReceipt | undefined,
  found: ReportComparison,
): void {
  const urgent = made ? made.details['urgentCount'] : sections.approvalQueue?.urgent;
  if (typeof urgent !== 'number') return;
  const { revenue, agentActivity, guardianState } = figures.in(currency);
  const { mode, pending } = open.figures;
  const approvalQueue = { pending, urgent };
  const counted = headlineOf({
    revenue,
    agentActivity,
    approvalQueue,
    guardianState: { mode, kills: guardianState.kills },
  });
  // Reports that were made by earlier versions tell less in it.
  const { directivesExecuted, movesBlocked } = agentActivity;
  const earlier = headlineOf({
    revenue,
    agentActivity: { directivesExecuted, movesBlocked },
    approvalQueue,
    guardianState: { mode },
  });
  found.part('headline', headline, headline === earlier ? earlier : counted);
}

function isSame(one: unknown, other: object): boolean {
  return isRecord(one) && canonicalJson(one) === canonicalJson(other);
}
