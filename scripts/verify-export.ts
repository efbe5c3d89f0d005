import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type AuditOptions, verify } from '../src/features/tenancy/verify-audit.js';

/** What was asked for cannot be read. */
class ExportUnread extends Error {}

/**
 * Verifies what a workspace has exported, without the service. An export of the workspace, in memory that does not grow with
 * it, or lines of its audit feed (`GET /audit-feed?format=jsonl`); with `--report` the Daily Report in that file is counted again from
 * them.
 */
const USAGE = `Use one of:
  npm run verify-export -- <file> [--key <id of a signing key that you kept elsewhere>] [--held <seq>:<hash>]
  npm run verify-export -- --receipts <file> --workspace <id of the workspace> [--report <file>] [--held <seq>:<hash>]
It ends with 1 if something is wrong, and with 2 if nothing is but not all of the report could be counted.
--held is a head of the chain that you kept elsewhere (GET /api/pro/audit-feed/head): it shows a chain that was cut or rewritten.
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
      held: { type: 'string' },
    },
    allowPositionals: true,
  });
  const { receipts, report: reportFile, workspace, key, held } = values;
  const [file, ...more] = positionals;
  if (file === undefined) throw new ExportUnread(`Say which file.\n${USAGE}`);
  if (more.length > 0) throw new ExportUnread(`Say what ${more[0]} is: --workspace or --key.\n${USAGE}`);
  if (reportFile !== undefined && !receipts) {
    throw new ExportUnread('A report is counted from lines of the audit feed: say --receipts as well.');
  }
  if (receipts && key !== undefined) {
    throw new ExportUnread('--key is for the export of a workspace: lines of the audit feed are not signed.');
  }
  const { isSound, words, faults, notCounted } = await verify(file, {
    ...(key !== undefined && { key }),
    ...(workspace !== undefined && { workspaceId: workspace }),
    ...(held !== undefined && { heldHead: headIn(held) }),
    ...(reportFile !== undefined && { report: await readFile(reportFile, 'utf8') }),
  });
  for (const sentence of words) console.log(sentence);
  if (words.length === 0) for (const { message } of faults) console.error(message);
  if (!isSound) process.exitCode = 1;
  else if (notCounted.length > 0) process.exitCode = NOT_ALL_COUNTED;
} catch (error) {
  if (!(error instanceof ExportUnread || isFileError(error) || isArgumentError(error))) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

function headIn(held: string): AuditOptions['heldHead'] {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(held) ?? [];
  if (seq === undefined || hash === undefined) throw new ExportUnread('--held takes <seq>:<hash>.');
  return { seq: Number(seq), hash };
}

function isArgumentError(error: unknown): error is TypeError {
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}

function isFileError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error;
}
