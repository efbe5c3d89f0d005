import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
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
  const all = group(program, 'audit', 'Receipts: what was done, by whom, and the proof of it', 'Work');
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

/** Line by line as it comes, so that memory stays flat; what is cut ends with 1 and says so. */
async function exportReceipts({ client, options }: Context<ExportOptions>): Promise<undefined> {
  const query = { format: 'jsonl', limit: Number(options.limit), from: options.from, to: options.to };
  const response = await client.open('GET', '/api/pro/audit-feed', { query });
  const target = options.output ? createWriteStream(options.output, { mode: 0o600 }) : process.stdout;
  let lines = 0;
  let last = 0;
  const copy = async (tell: (more: string) => void) => {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      for (const byte of chunk) if (byte === 0x0a) lines++;
      last = chunk.at(-1) ?? last;
      tell(`${lines} receipts`);
      if (!target.write(chunk)) await once(target, 'drain');
    }
  };
  try {
    await withProgress('Exporting', copy);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === 'open' || code === 'ENOSPC') throw error;
    throw new CliError(
      `The export was cut after ${lines} receipts.`,
      EXIT.error,
      'Export again; what was written is not whole.',
    );
  }
  if (lines > 0 && last !== 0x0a) throw new CliError(`The export was cut after ${lines} receipts.`);
  if (options.output) {
    target.end();
    await once(target, 'finish');
  }
  say(`${lines} receipts${options.output ? ` in ${options.output}` : ''}.`);
}
