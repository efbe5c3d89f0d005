import { once } from 'node:events';
import { open, rename, rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { type Context, define, defineList, group } from '../command.js';
import { CliError, EXIT } from '../errors.js';
import { record, say, styled, visible, withProgress } from '../output.js';

interface ExportOptions {
  output?: string;
  limit: string;
  from?: string;
  to?: string;
}

export function audit(program: Command): void {
  const all = group(program, 'audit', 'Receipts: what was done, by whom, and the proof of it', 'Work:');
  defineList(all, {
    summary: 'List receipts, the newest first',
    filters: [
      ['--action <action>', 'only those: approval.approved'],
      ['--actor <id>', 'only of this member'],
      ['--entity <id>', 'only about this record'],
      ['--from <time>', 'from this time on'],
      ['--to <time>', 'before this time'],
    ],
    call: (client, query) => client.auditFeed.list(query),
    columns: ['seq', 'at', { head: 'By', cell: ({ actor }) => actor.name }, 'action', 'summary'],
    empty: 'No receipts.',
  });
  define(all, {
    usage: 'export',
    summary: 'Write receipts as NDJSON, a line for each, the newest first',
    options: [
      ['-o, --output <file>', 'write to this file instead of standard output'],
      ['-L, --limit <n>', 'how many at most', { default: '10000', number: true }],
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
    usage: 'verify',
    summary: 'Have the service verify its whole chain, against a head that you kept',
    options: [
      ['--held-seq <n>', 'the number of a receipt that you kept'],
      ['--held-hash <hash>', 'and its hash'],
    ],
    examples: ['consigliere audit verify --held-seq 41 --held-hash 8c797124...'],
    progress: 'Verifying',
    async run({ client, options }: Context<{ heldSeq?: string; heldHash?: string }>) {
      const { heldSeq, heldHash } = options;
      const found = await client.auditFeed.verify({
        ...(heldSeq && { heldSeq: Number(heldSeq) }),
        ...(heldHash && { heldHash }),
      });
      if (!found.ok) process.exitCode = EXIT.error;
      return found;
    },
    show: ({ ok, checked, head, faults, checkpoints, keptElsewhere }) =>
      [
        styled(ok ? 'green' : 'red', ok ? 'The chain is whole.' : 'The chain is broken.'),
        record({ receipts: checked, head: `${head.seq} ${head.hash}`, checkpoints: checkpoints.checked }),
        ...faults.map(({ seq, message }) => styled('red', visible(`${seq}: ${message}`))),
        visible(keptElsewhere.notice),
      ].join('\n'),
  });
}

/** Line by line as it comes, so that memory stays flat. A file has its name only once it is whole. */
async function exportReceipts({ client, options }: Context<ExportOptions>): Promise<undefined> {
  const { output, limit, from, to } = options;
  const aside = `${output}.part`;
  const file = output === undefined ? undefined : await open(aside, 'w', 0o600);
  let lines = 0;
  let last = 0x0a;
  const write = async (chunk: Uint8Array) => {
    if (file) await file.write(chunk);
    else if (!process.stdout.write(chunk)) await once(process.stdout, 'drain');
  };
  const cut = (cause?: unknown) =>
    new CliError(`The export was cut after ${lines} receipts.`, EXIT.error, 'Export again.', 'CUT', {
      cause,
    });
  try {
    const query = { format: 'jsonl', limit: Number(limit), from, to };
    const { body } = await client.open('GET', '/api/pro/audit-feed', { query });
    await withProgress('Exporting', async (tell) => {
      const chunks = (body as unknown as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
      for (;;) {
        const { done, value } = await chunks.next().catch((error: unknown) => Promise.reject(cut(error)));
        if (done) break;
        for (const byte of value) if (byte === 0x0a) lines++;
        last = value.at(-1) ?? last;
        tell(`${lines} receipts`);
        await write(value);
      }
    });
    if (last !== 0x0a) throw cut();
    await file?.close();
    if (output !== undefined) await rename(aside, output);
  } catch (error) {
    await file?.close();
    if (file) await rm(aside, { force: true });
    throw error;
  }
  say(`${lines} receipts${output === undefined ? '' : ` in ${output}`}.`);
}
