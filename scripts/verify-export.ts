import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { ExportFault, verifyExport } from '../src/features/tenancy/verify-export.js';
import { countReport } from '../src/features/verifier/report-proof.js';
import {
  countInWords,
  LogFault,
  type ReceiptProofs,
  receiptsIn,
  reportIn,
  verifyLog,
} from '../src/features/verifier/verifier.js';

/** Nothing is wrong with the lines of the export, and yet it is not what was asked for. */
class ExportUnread extends Error {}

/**
 * Verifies what a workspace has exported, without the service. An export of the workspace, in memory that does not grow with
 * it, or lines of its audit feed (`GET /audit-feed?format=jsonl`); with `--report` the Daily Report in that file is counted again from
 * them.
 */
const USAGE = `Use one of:
  npm run verify-export -- <file> [--key <id of a signing key that you kept elsewhere>]
  npm run verify-export -- --receipts <file> [--workspace <id of the workspace>] [--report <file>]
It ends with 1 if something is wrong, and with 2 if nothing is but not all of the report could be counted.
The id of the workspace is in GET /api/pro/bootstrap (workspace.workspaceId), the ids of keys are in GET /api/pro/audit-feed/keys.`;

/** The exit code reports success only if every part of the report was counted. */
const NOT_ALL_COUNTED = 2;

try {
  const { values, positionals } = parseArgs({
    options: {
      receipts: { type: 'boolean' },
      report: { type: 'string' },
      workspace: { type: 'string' },
      key: { type: 'string' },
    },
    allowPositionals: true,
  });
  const { receipts, report: reportFile, workspace, key } = values;
  const [file, ...more] = positionals;
  if (file === undefined) throw new ExportUnread(`Say which file.\n${USAGE}`);
  if (more.length > 0) throw new ExportUnread(`Say what ${more[0]} is: --workspace or --key.\n${USAGE}`);
  if (reportFile !== undefined && !receipts) {
    throw new ExportUnread('A report is counted from lines of the audit feed: say --receipts as well.');
  }
  if (receipts && key !== undefined) {
    throw new ExportUnread('--key is for the export of a workspace: lines of the audit feed are not signed.');
  }
  if (!receipts && workspace !== undefined) {
    throw new ExportUnread('--workspace is for --receipts: the export of a workspace names its own.');
  }
  await (receipts ? verifyReceipts(file, workspace) : verifyWorkspace(file, key));
  if (reportFile !== undefined) await verifyReport(reportFile, file, workspace);
} catch (error) {
  const isTold = [ExportFault, ExportUnread, LogFault].some((known) => error instanceof known);
  if (!(isTold || isFileError(error) || isArgumentError(error))) throw error;
  console.error((error as Error).message);
  process.exitCode = 1;
}

async function verifyReceipts(path: string, workspaceId: string | undefined): Promise<void> {
  const log = await verifyLog(createReadStream(path), workspaceId);
  const { receipts, firstSeq, lastSeq, gaps, areHashesChecked, proofs } = log;
  console.log(`Receipts: ${receipts}, from ${firstSeq} to ${lastSeq}, with ${gaps} gaps.`);
  console.log(
    areHashesChecked
      ? 'Every hash belongs to its receipt.'
      : 'The hashes were not computed again: name the workspace, which they cover, with --workspace <id>.',
  );
  report(proofs);
}

async function verifyReport(
  path: string,
  receiptsPath: string,
  workspaceId: string | undefined,
): Promise<void> {
  const told = reportIn(await readFile(path, 'utf8'));
  const count = countReport(await receiptsIn(createReadStream(receiptsPath)), told, workspaceId);
  for (const sentence of countInWords(told, count)) console.log(sentence);
  if (count.differences.length > 0) process.exitCode = 1;
  else if (count.notCounted.length > 0) process.exitCode ??= NOT_ALL_COUNTED;
}

async function verifyWorkspace(path: string, keptKeyId: string | undefined): Promise<void> {
  const { manifest, end, lines, proofs } = await verifyExport(
    createReadStream(path, { highWaterMark: 1_048_576 }),
  );
  if (keptKeyId !== undefined && !manifest.signingKeys.some(({ keyId }) => keyId === keptKeyId)) {
    throw new ExportUnread(`The export is not signed by the key ${keptKeyId} or one that follows it.`);
  }
  const { workspaceName, at, receiptHead, signingKeys } = manifest;
  console.log(
    `The export is complete and unchanged: ${workspaceName} at ${new Date(at).toISOString()}, ${lines} lines.`,
  );
  console.log(
    `Receipts: ${end.counts['receipts']}, up to ${receiptHead.seq} with the hash ${receiptHead.hash}.`,
  );
  console.log(`SHA-256 of all lines but the last: ${end.sha256}`);
  console.log(`Signed by the key ${end.keyId}; the first key of the service is ${signingKeys[0]!.keyId}.`);
  if (keptKeyId === undefined) {
    console.log('The keys are those that the file brings: compare an id with one that you kept elsewhere.');
  }
  report(proofs);
}

function report(proofs: ReceiptProofs): void {
  for (const sentence of proofs.inWords()) console.log(sentence);
  if (!proofs.areSound) process.exitCode = 1;
}

function isArgumentError(error: unknown): boolean {
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}

function isFileError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error;
}
