import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyExport } from '../../../src/features/tenancy/verify-export.js';
import { Checkpoints } from '../../../src/platform/receipts/checkpoints.js';
import { Desk } from '../directives/desk.js';
import { TenancyDesk, type Tenant } from './tenancy-desk.js';

let desk: TenancyDesk;
let tenant: Tenant;
let text: string;
let lines: string[];
beforeAll(async () => {
  desk = await TenancyDesk.open();
  tenant = await desk.tenant();
  const owner = new Desk(desk.test, tenant.owner.token);
  for (let n = 0; n < 5; n++) await owner.handInReady();
  await desk.test.app.get(Checkpoints, { strict: false }).signDue();
  // More lines than stand between two digests.
  await desk.test.rows(
    `insert into documents (document_id, workspace_id, directive_id, work_packet_id, title, body, created_at)
     select 'doc_' || n, $1, 'dir', 'pkt_' || n, 'Short', 'x', now() from generate_series(1, 2500) n`,
    [tenant.workspaceId],
  );
  text = await desk.export(tenant);
  lines = text.trimEnd().split('\n');
});
afterAll(() => desk.test.close());

const verified = (bytes: string | Buffer) => verifyExport(Readable.from([Buffer.from(bytes)]));
const joined = (some: string[]) => `${some.join('\n')}\n`;
const indexOf = (kind: string, from = 0) =>
  lines.findIndex((line, n) => n >= from && JSON.parse(line).kind === kind);
const replaced = (index: number, line: string) => joined(lines.with(index, line));

/** The fault that this export is told to have. */
async function faultOf(bytes: string): Promise<string> {
  try {
    await verified(bytes);
  } catch (error) {
    return (error as Error).message;
  }
  return 'none';
}

describe('verify-export', () => {
  it('finds no fault in what was exported, in pieces of whatever size', async () => {
    const bytes = Buffer.from(text);
    for (const size of [7, 4096, bytes.length]) {
      const pieces = (function* () {
        for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
      })();
      const { end, lines: n } = await verifyExport(Readable.from(pieces));
      expect(n).toBe(lines.length);
      expect(end.counts).toMatchObject({ documents: 2500, checkpoints: 1 });
    }
  });

  it('names the stretch in which the byte of a record was changed', async () => {
    const index = 1_500;
    const digests = lines.flatMap((line, n) => (JSON.parse(line).kind === 'digest' ? [n + 1] : []));
    const [after, before] = [digests.findLast((n) => n <= index)!, digests.find((n) => n > index)!];
    expect(await faultOf(replaced(index, lines[index]!.replace('"Short"', '"Shore"')))).toBe(
      `Line ${before}: Something was changed between line ${after + 1} and this one: the SHA-256 of the lines before it is another.`,
    );
  });

  it('names the receipt that was changed', async () => {
    const index = indexOf('receipt');
    const { seq } = JSON.parse(lines[index]!).receipt;
    const fault = await faultOf(
      replaced(index, lines[index]!.replace('"success', '"failure').replace('success\\"', 'failure\\"')),
    );
    expect(fault).toBe(`Line ${index + 1}: The hash of receipt ${seq} does not match its content.`);
  });

  it.each(['record', 'receipt', 'checkpoint', 'digest'])('names a missing line: a %s', async (kind) => {
    const index = indexOf(kind);
    expect(await faultOf(joined(lines.toSpliced(index, 1)))).toBe(
      `Line ${index + 1}: Line ${index + 1} is missing.`,
    );
  });

  it('names several missing lines, and one that was added or exchanged', async () => {
    expect(await faultOf(joined(lines.toSpliced(9, 4)))).toBe('Line 10: Lines 10 to 13 are missing.');
    expect(await faultOf(joined(lines.toSpliced(9, 0, lines[9]!)))).toBe(
      'Line 11: It has the number 10; a line was added, or lines were exchanged.',
    );
  });

  it('tells that the end is missing, wherever it was cut', async () => {
    const cut = (n: number) => `Line ${n}: The export ends here, without its last line: its end was cut off.`;
    expect(await faultOf(joined(lines.slice(0, -1)))).toBe(cut(lines.length));
    expect(await faultOf(joined(lines.slice(0, 20)))).toBe(cut(21));
    expect(await faultOf(text.slice(0, -30))).toBe(cut(lines.length));
    expect(await faultOf(text.trimEnd())).toBe(cut(lines.length));
    expect(await faultOf('')).toBe(cut(1));
  });

  it('tells that something stands behind the end', async () => {
    expect(await faultOf(`${text}{}\n`)).toBe(
      `Line ${lines.length + 1}: There is something behind the last line of the export.`,
    );
  });

  it('tells a checkpoint that was not signed by the keys of the export', async () => {
    const index = indexOf('checkpoint');
    const { checkpoint } = JSON.parse(lines[index]!);
    const other = { ...checkpoint, signature: Buffer.alloc(64).toString('base64url') };
    const line = JSON.stringify({ n: index + 1, kind: 'checkpoint', checkpoint: other });
    expect(await faultOf(replaced(index, line))).toBe(
      `Line ${index + 1}: The checkpoint at ${checkpoint.seq} is not signed by a trusted key.`,
    );
  });

  it('tells a signature that does not belong to the whole', async () => {
    const last = JSON.parse(lines.at(-1)!);
    last.end.signature = Buffer.alloc(64).toString('base64url');
    expect(await faultOf(replaced(lines.length - 1, JSON.stringify(last)))).toBe(
      `Line ${lines.length}: The signature does not belong to this export.`,
    );
  });

  it('tells numbers at the end that are not those of the lines', async () => {
    const last = JSON.parse(lines.at(-1)!);
    last.end.counts.documents = 2499;
    expect(await faultOf(replaced(lines.length - 1, JSON.stringify(last)))).toBe(
      `Line ${lines.length}: There are 2500 lines of documents; the last line says 2499.`,
    );
  });

  it.each(['manifest', 'receipt', 'checkpoint', 'end'])(
    'refuses a line that has the kind %s and nothing of it',
    async (kind) => {
      const index = kind === 'end' ? lines.length - 1 : indexOf(kind);
      const line = JSON.parse(lines[index]!);
      line[kind] =
        kind === 'manifest'
          ? { format: line.manifest.format }
          : { ...line[kind], signature: undefined, seq: line[kind].seq, body: undefined };
      expect(await faultOf(replaced(index, JSON.stringify(line)))).toMatch(
        new RegExp(`^Line ${index + 1}: `),
      );
    },
  );

  it.each([
    ['what is no JSON', 'not json', 'It is not the JSON of a line of an export.'],
    ['JSON that is no line', '[]', 'It is not the JSON of a line of an export.'],
    [
      'another format',
      '{"n":1,"kind":"manifest","manifest":{"format":"zip"}}',
      'It is no manifest of an export in the format consigliere-export/1.',
    ],
  ])('refuses %s', async (_case, line, message) => {
    expect(await faultOf(`${line}\n`)).toBe(`Line 1: ${message}`);
  });
});

describe('npm run verify-export', () => {
  const run = (...parameters: string[]) =>
    promisify(execFile)(process.execPath, [
      join(import.meta.dirname, '../../../dist/scripts/verify-export.js'),
      ...parameters,
    ]).then(
      ({ stdout }) => ({ code: 0, out: stdout }),
      (error: { code: number; stderr: string }) => ({ code: error.code, out: error.stderr }),
    );

  it('says of a file that it is whole, or which fault it has first, without the service', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'consigliere-export-'));
    try {
      const file = join(folder, 'export.jsonl');
      await writeFile(file, text);
      const { keyId } = JSON.parse(lines[0]!).manifest.signingKeys[0];
      const whole = await run(file, '--key', keyId);
      expect(whole).toMatchObject({ code: 0, out: expect.stringContaining('complete and unchanged') });
      const [, told, same] = /Decisions: (\d+)\. Made again from the receipts alone, (\d+) came/.exec(
        whole.out,
      )!;
      expect(whole.out).toContain('The kill switch was never used.');
      expect(Number(told)).toBeGreaterThanOrEqual(5);
      expect(same).toBe(told);
      expect(await run(file, '--key', 'another')).toMatchObject({
        code: 1,
        out: expect.stringContaining('another'),
      });
      await writeFile(file, joined(lines.toSpliced(9, 1)));
      expect(await run(file)).toEqual({ code: 1, out: 'Line 10: Line 10 is missing.\n' });
      expect((await run(join(folder, 'none'))).code).toBe(1);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
