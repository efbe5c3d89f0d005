import { createReadStream } from 'node:fs';
import { ReportCounter } from '../verifier/report-proof.js';
import { countInWords, LogFault, type ReceiptProofs, reportIn, verifyLog } from '../verifier/verifier.js';
import { ExportFault, verifyExport } from './verify-export.js';

/** What an export is held against besides itself. */
export interface AuditOptions {
  /** The id of a signing key that was kept elsewhere: it, or one that follows it, must have signed the export of a workspace. */
  key?: string;
  /** The head of the chain as it was kept elsewhere: the only thing that shows a chain which was cut or rewritten as a whole. */
  heldHead?: { seq: number; hash: string };
  /** A Daily Report as `GET /reports/daily` answered it, parsed or as text: it is counted again from the receipts. */
  report?: string | object;
  /** For lines of the audit feed: the id of the workspace, which the hashes cover and the lines leave out. */
  workspaceId?: string;
}

/** Something that is wrong with an export; the message quotes nothing of a receipt. */
export interface AuditFault {
  /**
   * `export`: the file or its chain is not as it was written. `key`: another key has signed it. `halt`: something was sent or
   * consumed while the kill switch was engaged. `decision`: a decision comes out otherwise when it is made again. `action`: an
   * agent did what nothing allows. `report`: a number or text of the report is not what its receipts show. `workspace`: nothing is
   * shown, since lines of the audit feed do not name the workspace that their hashes cover, and it was not given.
   */
  kind: 'export' | 'key' | 'halt' | 'decision' | 'action' | 'report' | 'workspace';
  /** The receipt, where one is at fault. */
  seq: number | null;
  /** One sentence. */
  message: string;
}

/** What an export shows. */
export interface AuditVerdict {
  /** Nothing is wrong. */
  isSound: boolean;
  /** What is wrong: the first fault of the file, or the first hundred of each other kind. */
  faults: AuditFault[];
  /** What could not be counted of the report, since the receipts do not show it; that is no fault. */
  notCounted: string[];
  /** How many receipts were read; 0 where the file itself is at fault. */
  receipts: number;
  /** The last of them. */
  head: { seq: number; hash: string } | null;
  /** What was found, a sentence a line; none where the file itself is at fault. */
  words: string[];
}

/**
 * Verifies an export offline: that of a workspace, in memory that does not grow with it, or lines of its audit feed
 * (`GET /audit-feed?format=jsonl`), as its first line tells.
 *
 * @param source the path of a file, or its bytes as they come
 * @throws Error for a file that cannot be read
 */
export async function verify(
  source: string | URL | AsyncIterable<Uint8Array>,
  options: AuditOptions = {},
): Promise<AuditVerdict> {
  const isFile = typeof source === 'string' || source instanceof URL;
  const { report, heldHead } = options;
  if (heldHead && !(Number.isSafeInteger(heldHead.seq) && /^[0-9a-f]{64}$/.test(heldHead.hash))) {
    throw new TypeError('heldHead must be the seq and hash that GET /audit-feed/head has answered.');
  }
  let kind: AuditFault['kind'] = 'report';
  try {
    const text = typeof report === 'object' ? JSON.stringify(report) : report;
    const told = text === undefined ? undefined : reportIn(text);
    kind = 'export';
    const pieces = isFile ? createReadStream(source, { highWaterMark: 1_048_576 }) : source;
    const { isExport, all } = await opened(pieces);
    return await (isExport ? verifyWorkspace(all, told, options) : verifyReceipts(all, told, options));
  } catch (error) {
    if (!(error instanceof ExportFault || error instanceof LogFault)) throw error;
    return broken(kind, error.message);
  }
}

type Report = ReturnType<typeof reportIn>;

function broken(kind: AuditFault['kind'], message: string): AuditVerdict {
  const faults = [{ kind, seq: null, message }];
  return { isSound: false, faults, notCounted: [], receipts: 0, head: null, words: [] };
}

async function verifyReceipts(
  pieces: AsyncIterable<Uint8Array>,
  told: Report | undefined,
  { workspaceId, heldHead }: AuditOptions,
): Promise<AuditVerdict> {
  if (workspaceId === undefined) {
    const whose = 'Name the workspace whose receipts these are, with --workspace <id> (workspaceId)';
    return broken(
      'workspace',
      `${whose}: their hashes cover it, and without it a forged one would not be found.`,
    );
  }
  const counter = told && new ReportCounter(told, workspaceId);
  const log = await verifyLog(pieces, workspaceId, heldHead, (receipt) => counter?.receipt(receipt));
  const { receipts, firstSeq, lastSeq, lastHash, gaps, proofs } = log;
  const words = [
    `Receipts: ${receipts}, from ${firstSeq} to ${lastSeq}, with ${gaps} gaps.`,
    'Every hash belongs to its receipt.',
  ];
  return verdictOf({ receipts, head: { seq: lastSeq, hash: lastHash }, words }, proofs, told, counter);
}

async function verifyWorkspace(
  pieces: AsyncIterable<Uint8Array>,
  told: Report | undefined,
  { key, heldHead }: AuditOptions,
): Promise<AuditVerdict> {
  const counter = told && new ReportCounter(told);
  const { manifest, end, lines, proofs } = await verifyExport(pieces, {
    ...(heldHead && { heldHead }),
    ...(counter && { onReceipt: (receipt) => counter.receipt(receipt) }),
  });
  const { workspaceName, at, receiptHead, signingKeys } = manifest;
  if (key !== undefined && !signingKeys.some(({ keyId }) => keyId === key)) {
    return broken('key', `The export is not signed by the key ${key} or one that follows it.`);
  }
  const receipts = end.counts['receipts'] ?? 0;
  const words = [
    `The export is complete and unchanged: ${workspaceName} at ${new Date(at).toISOString()}, ${lines} lines.`,
    `Receipts: ${receipts}, up to ${receiptHead.seq} with the hash ${receiptHead.hash}.`,
    `SHA-256 of all lines but the last: ${end.sha256}`,
    `Signed by the key ${end.keyId}; the first key of the service is ${signingKeys[0]!.keyId}.`,
    ...(key === undefined
      ? ['The keys are those that the file brings: compare an id with one that you kept elsewhere.']
      : []),
    ...(heldHead
      ? []
      : [
          'Without a head that was kept elsewhere, a chain that was rewritten and signed anew cannot be told.',
        ]),
  ];
  return verdictOf({ receipts, head: receiptHead, words }, proofs, told, counter);
}

function verdictOf(
  { receipts, head, words }: Pick<AuditVerdict, 'receipts' | 'head' | 'words'>,
  proofs: ReceiptProofs,
  told: Report | undefined,
  counter: ReportCounter | undefined,
): AuditVerdict {
  const count = counter?.count();
  const differences = (count?.differences ?? []).map(({ message }) => ({
    kind: 'report' as const,
    seq: null,
    message,
  }));
  const faults = [...proofs.faults, ...differences];
  return {
    isSound: faults.length === 0,
    faults,
    notCounted: count?.notCounted ?? [],
    receipts,
    head,
    words: [...words, ...proofs.inWords(), ...(told && count ? countInWords(told, count) : [])],
  };
}

/** Reads the first line, which tells the kind of the file; answers all of it. */
async function opened(
  pieces: AsyncIterable<Uint8Array>,
): Promise<{ isExport: boolean; all: AsyncIterable<Uint8Array> }> {
  const iterator = pieces[Symbol.asyncIterator]();
  const read: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await iterator.next();
    if (done) break;
    read.push(value);
    if (value.includes(10)) break;
  }
  const [first = ''] = Buffer.concat(read).toString().split('\n', 1);
  // Whatever is no receipt should have been an export, which is told what it lacks.
  const isExport = first.startsWith('{"n":') || !first.includes('"prevHash"');
  async function* all(): AsyncGenerator<Uint8Array> {
    yield* read;
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
  }
  return { isExport, all: all() };
}
