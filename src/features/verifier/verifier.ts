import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { isCalendarDate } from '../../platform/kernel/calendar-date.js';
import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import { type ReceiptContent, receiptBody, receiptHash } from '../../platform/receipts/receipt.js';
import { type ChainPoint, pointFault } from '../../platform/receipts/verify-chain.js';
import { type DispatchInHalt, HaltProof } from '../audit/halt-proof.js';
import { ActionProof } from './action-proof.js';
import { DecisionProof } from './decision-proof.js';
import type { CountableReport } from './countable-report.js';
import type { ReportCount } from './report-proof.js';

/**
 * Shows from exported receipts, without the service and its database, that nothing was sent between a
 * kill and its revert, that every decision comes out the same when it is made again, and that agents from outside did only what
 * was allowed, once.
 *
 * @level 4
 */
export class ReceiptProofs {
  readonly halts = new HaltProof();
  readonly decisions = new DecisionProof();
  readonly actions = new ActionProof();
  /** The first hundred dispatches that began while the kill switch was engaged. */
  readonly inHalt: DispatchInHalt[] = [];

  /** The next receipt of the chain; some may be missing, but none comes twice. */
  receipt(seq: number, content: ReceiptContent): void {
    const dispatch = this.halts.receipt(seq, content);
    if (dispatch && this.inHalt.length < KEPT) this.inHalt.push(dispatch);
    this.decisions.receipt(seq, content);
    this.actions.receipt(seq, content);
  }

  /** What is wrong, by the number of its receipt; the first hundred of each kind. */
  get faults(): ProofFault[] {
    const halts = this.inHalt.map(({ seq, killedSeq, workPacketId }) => ({
      kind: 'halt' as const,
      seq,
      message: `Receipt ${seq} records that the ${workPacketId.startsWith('act_') ? `action request ${workPacketId} was consumed` : `work packet ${workPacketId} was sent`} while the kill switch of receipt ${killedSeq} was engaged.`,
    }));
    const decisions = this.decisions.faults.map(({ seq, message }) => ({
      kind: 'decision' as const,
      seq,
      message,
    }));
    const actions = this.actions.faults.map(({ seq, message }) => ({
      kind: 'action' as const,
      seq,
      message,
    }));
    return [...halts, ...decisions, ...actions];
  }

  /** What they show, a sentence a line; the first hundred faults of each kind by the number of their receipt. */
  inWords(): string[] {
    const { count } = this.halts;
    const { decisions, equal, unknown, faults, faultCount } = this.decisions;
    const times = count === 1 ? 'once' : `${count} times`;
    const halts = this.faults.filter(({ kind }) => kind === 'halt').map(({ message }) => message);
    return [
      count === 0
        ? 'The kill switch was never used.'
        : `The kill switch was used ${times}; ${halts.length === 0 ? 'nothing was sent before its revert.' : 'something was sent before its revert:'}`,
      ...halts,
      `Decisions: ${decisions}. Made again from the receipts alone, ${equal} came out the same and ${faultCount} ${faultCount === 1 ? 'difference was' : 'differences were'} found${unknown > 0 ? `; ${unknown} go by orders whose receipts are not here` : ''}.`,
      ...faults.map(({ message }) => message),
      ...this.actionsInWords(),
    ];
  }

  private actionsInWords(): string[] {
    const { consumed, faults, faultCount } = this.actions;
    if (consumed === 0 && faultCount === 0) return [];
    const times = `${consumed} ${consumed === 1 ? 'was' : 'were'} consumed`;
    const verdict =
      faultCount === 0
        ? 'each once, as it had been allowed or approved'
        : `${faultCount} of their receipts do not agree with those before`;
    return [`Action requests: ${times}; ${verdict}.`, ...faults.map(({ message }) => message)];
  }

  get areSound(): boolean {
    return this.inHalt.length === 0 && this.decisions.faultCount === 0 && this.actions.faultCount === 0;
  }
}

/** Something that the receipts show to be wrong; the message quotes nothing of a receipt. */
export interface ProofFault {
  /** What was sent or consumed in a halt, a decision that comes out otherwise, or an act of an agent that nothing allows. */
  kind: 'halt' | 'decision' | 'action';
  seq: number;
  message: string;
}

/** What a file of receipts shows, as `GET /audit-feed?format=jsonl` answers them. */
export interface VerifiedLog {
  receipts: number;
  firstSeq: number;
  lastSeq: number;
  /** The hash of the last. */
  lastHash: string;
  /** Stretches of numbers between them that are not there: filtered out, or of teams that the reader does not see. */
  gaps: number;
  /** False without the id of the workspace, which the hashes cover and the lines leave out. */
  areHashesChecked: boolean;
  proofs: ReceiptProofs;
}

/** The first fault of a file of receipts. */
export class LogFault extends Error {}

/** A line: a receipt as the audit feed shows it. */
type Line = Omit<ReceiptContent, 'workspaceId'> & { seq: number; prevHash: string; hash: string };

const KEPT = 100;

/**
 * Verifies lines of the audit feed, whatever stretch of it they are. They come newest first, so they are all held at once:
 * the feed gives 10,000 at a time.
 *
 * @param workspaceId the id of the workspace, which is part of what is hashed
 * @param heldHead the head of the chain as it was kept elsewhere, which the receipts must still contain
 * @param onReceipt hears of each, in their order
 * @throws LogFault
 */
export async function verifyLog(
  pieces: AsyncIterable<Uint8Array>,
  workspaceId?: string,
  heldHead?: ChainPoint,
  onReceipt?: (receipt: Line) => void,
): Promise<VerifiedLog> {
  const receipts = await receiptsIn(pieces);
  if (
    workspaceId !== undefined &&
    receipts.length > 0 &&
    !receipts.some((one) => hasItsHash(one, workspaceId))
  ) {
    throw new LogFault(
      `No hash of these ${receipts.length} receipts matches in the workspace ${workspaceId}: they are another workspace's, or all of them were changed.`,
    );
  }
  const proofs = new ReceiptProofs();
  let gaps = 0;
  let before: Line | undefined;
  for (const receipt of receipts) {
    const { seq, prevHash, hash: _hash, ...content } = receipt;
    if (before && seq === before.seq) throw new LogFault(`Receipt ${seq} is there twice.`);
    if (before && seq > before.seq + 1) gaps++;
    else if (before && prevHash !== before.hash) {
      throw new LogFault(`Receipt ${seq} does not contain the hash of the receipt before it.`);
    }
    if (workspaceId !== undefined && !hasItsHash(receipt, workspaceId)) {
      throw new LogFault(
        `The hash of receipt ${seq} does not match its content in the workspace ${workspaceId}.`,
      );
    }
    proofs.receipt(seq, { ...content, workspaceId: workspaceId ?? '' });
    onReceipt?.(receipt);
    before = receipt;
  }
  const held = heldHead && receipts.find(({ seq }) => seq === heldHead.seq);
  const fault = heldHead && pointFault(heldHead, held?.hash, before?.seq ?? 0);
  if (fault) throw new LogFault(fault.message);
  return {
    receipts: receipts.length,
    firstSeq: receipts[0]?.seq ?? 0,
    lastSeq: before?.seq ?? 0,
    lastHash: before?.hash ?? '',
    gaps,
    areHashesChecked: workspaceId !== undefined,
    proofs,
  };
}

function hasItsHash({ seq: _seq, prevHash, hash, ...content }: Line, workspaceId: string): boolean {
  return receiptHash(prevHash, receiptBody({ ...content, workspaceId })) === hash;
}

/**
 * The receipts in lines of the audit feed, in their order.
 * @throws LogFault for a line that is no receipt
 */
export async function receiptsIn(pieces: AsyncIterable<Uint8Array>): Promise<Line[]> {
  const lines: Line[] = [];
  let n = 0;
  for await (const text of createInterface({ input: Readable.from(pieces) })) lines.push(parsed(text, ++n));
  return lines.toSorted((a, b) => a.seq - b.seq);
}

/**
 * A Daily Report as `GET /reports/daily` answered it.
 * @throws LogFault for anything else
 */
export function reportIn(text: string): CountableReport {
  try {
    const report = JSON.parse(text) as Partial<CountableReport> | null;
    // What has no hash is no answer of ours either.
    if (isReport(report) && canonicalJson(report) !== '') return report;
  } catch {
    // Told below.
  }
  throw new LogFault('The file is no report as GET /reports/daily answers it.');
}

function isReport(report: Partial<CountableReport> | null): report is CountableReport {
  const { receiptRange, receiptHead, sections, customSections, partial } = report ?? {};
  const { reportId, date, timezone, generatedAt, currency, headline } = report ?? {};
  return (
    [reportId, timezone, generatedAt, currency, headline].every((word) => typeof word === 'string') &&
    isCalendarDate(date) &&
    typeof partial === 'boolean' &&
    typeof sections === 'object' &&
    sections !== null &&
    Array.isArray(customSections) &&
    customSections.every(
      (section: { sectionId?: unknown } | null) => typeof section?.sectionId === 'string',
    ) &&
    [receiptRange?.from, receiptRange?.to, receiptHead?.seq].every((seq) => Number.isSafeInteger(seq))
  );
}

/** What counting a report again has shown, a sentence a line. */
export function countInWords({ date }: CountableReport, count: ReportCount): string[] {
  const { receipts, differences, notCounted } = count;
  return [
    `The Daily Report of ${date}, counted again from ${receipts} receipts of its day: ${verdictOf(count)}`,
    ...differences.map(({ message }) => message),
    ...notCounted.map((what) => `Not counted: ${what}.`),
  ];
}

function verdictOf({ differences, notCounted }: ReportCount): string {
  const { length } = differences;
  if (length > 0) return `${length} ${length === 1 ? 'difference was' : 'differences were'} found:`;
  return notCounted.length === 0
    ? 'all that it says is what its receipts show.'
    : 'no difference was found, but not all that it says could be counted:';
}

function parsed(text: string, n: number): Line {
  try {
    const line = JSON.parse(text) as Partial<Line> | null;
    const isReceipt =
      typeof line?.seq === 'number' &&
      typeof line.hash === 'string' &&
      typeof line.action === 'string' &&
      typeof line.entity?.id === 'string' &&
      typeof line.details === 'object' &&
      line.details !== null;
    if (isReceipt) return line as Line;
  } catch {
    // Told below.
  }
  throw new LogFault(`Line ${n} is no receipt of the audit feed.`);
}
