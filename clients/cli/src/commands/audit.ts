import { once } from 'node:events';
import type { Consigliere } from '@consigliere/sdk';
import type { AuditVerdict } from '@consigliere/sdk/audit';
import type { Command } from 'commander';
import { type Context, define, defineList, group, readInput } from '../command.js';
import { CliError, EXIT, UsageError } from '../errors.js';
import { say, styled, visible, withProgress } from '../output.js';

interface ExportOptions {
  output?: string;
  limit?: number;
  from?: string;
  to?: string;
}

export function audit(program: Command): void {
  const all = group(program, 'audit', 'Receipts: what was done, by whom, and the proof of it', 'Work:');
  defineList(all, {
    summary: 'List receipts, the newest first',
    filters: [
      ['--action <action>', 'only this action: approval.approved'],
      ['--actor <id>', 'only of this member'],
      ['--entity <id>', 'only about this record'],
      ['--from <time>', 'from this time on'],
      ['--to <time>', 'before this time'],
    ],
    call: (client, query) => client.auditFeed.list(query),
    columns: ['seq', 'at', 'actor', 'action', 'summary'],
    empty: 'No receipts.',
  });
  define(all, {
    usage: 'export',
    summary: 'Write receipts as NDJSON, a line for each, the newest first',
    options: [
      ['-o, --output <file>', 'write to this file instead of standard output'],
      ['-L, --limit <n>', 'how many of the newest; without it all', { number: true }],
      ['--from <time>', 'from this time on'],
      ['--to <time>', 'before this time'],
    ],
    examples: [
      'consigliere audit export --output receipts.ndjson',
      'consigliere audit export | jq .action | sort | uniq -c',
    ],
    progress: null,
    run: exportReceipts,
  });
  define(all, {
    usage: 'verify [file]',
    summary:
      'Verify an export offline, or have the service verify its chain; ends with 1 if anything is wrong',
    options: [
      ['--held-seq <n>', 'the number of a receipt that you kept', { number: true }],
      ['--held-hash <hash>', 'the hash of that receipt'],
      ['--key <keyId>', 'a signing key that you kept, for the export of a workspace'],
      ['--workspace <workspaceId>', 'whose receipts these are: their hashes cover it (`consigliere whoami`)'],
      ['--report <file>', 'a Daily Report as JSON, whose numbers are recounted'],
    ],
    examples: [
      'consigliere audit export --output receipts.ndjson && consigliere audit verify receipts.ndjson --workspace wks_01...',
      'consigliere audit verify --held-seq 41 --held-hash 8c797124...',
    ],
    progress: 'Verifying',
    run: (context: Context<VerifyOptions>) =>
      context.args[0] ? verifyFile(context) : verifyAtService(context),
    show: ({ isSound, words, faults }) =>
      [
        styled(isSound ? 'green' : 'red', isSound ? 'Nothing is wrong.' : headingOf(faults)),
        ...words.map(visible),
        ...faults.map(({ kind, seq, message }) =>
          styled('red', visible(`${kind}${seq === null ? '' : ` at ${seq}`}: ${message}`)),
        ),
      ].join('\n'),
  });
}

function headingOf([first]: Verified['faults']): string {
  return first?.kind === 'workspace' ? 'Nothing was verified.' : 'Something is wrong.';
}

interface VerifyOptions {
  heldSeq?: number;
  heldHash?: string;
  key?: string;
  workspace?: string;
  report?: string;
}

/** Without the service, and without its word. */
async function verifyFile({ args, options }: Context<VerifyOptions>): Promise<Verified> {
  const { heldSeq, heldHash, key, workspace, report } = options;
  assertWholeHead(options);
  const { verify } = await import('@consigliere/sdk/audit');
  const verdict = await verify(args[0]!, {
    heldHead: heldSeq && heldHash ? { seq: heldSeq, hash: heldHash } : undefined,
    key,
    workspaceId: workspace,
    report: report && (await readInput(report)),
  });
  if (!verdict.isSound) process.exitCode = EXIT.error;
  return verdict;
}

async function verifyAtService({ client, options }: Context<VerifyOptions>): Promise<Verified> {
  const { heldSeq, heldHash, key, workspace, report } = options;
  assertWholeHead(options);
  // Ignored, they would seem to have been verified.
  if (key ?? workspace ?? report)
    throw new UsageError('--key, --workspace and --report need the file of an export.');
  const verified = await client.auditFeed.verify({ heldSeq, heldHash });
  const { ok, checked, head, faults, keptElsewhere } = verified;
  if (!ok) process.exitCode = EXIT.error;
  const words = [`Receipts: ${checked}, up to ${head.seq} with the hash ${head.hash}.`, keptElsewhere.notice];
  return { isSound: ok, receipts: checked, head, faults, words };
}

function assertWholeHead({ heldSeq, heldHash }: VerifyOptions): void {
  if ((heldSeq === undefined) !== (heldHash === undefined))
    throw new UsageError('--held-seq and --held-hash belong together.');
}

type Verified = Pick<AuditVerdict, 'isSound' | 'receipts' | 'head' | 'words'> & {
  faults: { kind: string; seq: number | null; message: string }[];
};

/** Line by line as it comes, so that memory stays flat. A file has its name only once it is whole. */
async function exportReceipts({ client, options }: Context<ExportOptions>): Promise<undefined> {
  const { open, rename, rm } = await import('node:fs/promises');
  const { output } = options;
  const aside = `${output}.part`;
  const file = output === undefined ? undefined : await open(aside, 'w', 0o600);
  const write = async (text: string) => {
    if (file) await file.write(text);
    else if (!process.stdout.write(text)) await once(process.stdout, 'drain');
  };
  try {
    const receipts = await withProgress('Exporting', async (tell) => {
      let count = 0;
      for await (const lines of stretches(client, options)) {
        await write(lines);
        for (let at = lines.indexOf('\n'); at >= 0; at = lines.indexOf('\n', at + 1)) count++;
        tell(`${count} receipts`);
      }
      return count;
    });
    await file?.close();
    if (output !== undefined) await rename(aside, output);
    say(`${receipts} receipts${output === undefined ? '' : ` in ${output}`}.`);
  } catch (error) {
    await file?.close();
    if (file) await rm(aside, { force: true });
    throw error;
  }
}

/** How many lines the service answers at most; behind the last of them another call goes on. */
const STRETCH = 10_000;

/** Whole lines, as many at a time as have come. */
async function* stretches(
  client: Consigliere,
  { limit = Infinity, from, to }: ExportOptions,
): AsyncGenerator<string> {
  const cut = (cause?: unknown) =>
    new CliError('The export was cut in the middle.', EXIT.error, 'Export again.', 'CUT', { cause });
  let left = limit;
  for (let before: number | undefined; left > 0;) {
    const asked = Math.min(STRETCH, left);
    const query = { format: 'jsonl', limit: asked, before, from, to };
    const { body } = await client.open('GET', '/api/pro/audit-feed', { query });
    const decoder = new TextDecoder();
    const chunks = (body as unknown as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    let [rest, last, count] = ['', '', 0];
    for (;;) {
      const { done, value } = await chunks.next().catch((error: unknown) => Promise.reject(cut(error)));
      if (done) break;
      const text = rest + decoder.decode(value, { stream: true });
      const end = text.lastIndexOf('\n') + 1;
      rest = text.slice(end);
      if (end === 0) continue;
      const lines = text.slice(0, end);
      last = lines.slice(lines.lastIndexOf('\n', end - 2) + 1);
      count += lines.split('\n').length - 1;
      yield lines;
    }
    if (rest !== '') throw cut();
    if (count < asked) return;
    left -= count;
    before = (JSON.parse(last) as { seq: number }).seq;
  }
}
