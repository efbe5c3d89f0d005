import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type AuditOptions, verify } from '@consigliere/sdk/audit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentsOf, repeated, writeSignedExport } from '../../../bench/long-export.js';
import type { ReceiptContent } from '../../../src/platform/receipts/receipt.js';
import { Client } from '../../support/client.js';
import { MAIN } from '../cli/terminal.js';
import { AgentDesk, TOOL } from './agent-desk.js';

let folder: string;
let file: string;
let feed: string;
let workspaceId: string;
let receipts: ReceiptContent[];
/** A report of the day, and a kill with its revert. */
let report: { sections: { agentActivity: { outsideAgents?: object } } } & Record<string, unknown>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'consigliere-audit-'));
  file = join(folder, 'export.jsonl');
  const desk = await AgentDesk.open();
  try {
    ({ workspaceId } = desk.test);
    await desk.kill();
    await desk.revert();
    await desk.agent.actions.run(TOOL, { order: 'A-17', amount: 20 }, desk.refund);
    const client = new Client(desk.test.url, desk.test.owner.token);
    feed = (await client.get('/audit-feed?format=jsonl')).text;
    receipts = contentsOf(feed, workspaceId);
    report = (await client.get('/reports/daily')).body;
  } finally {
    await desk.close();
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What is found in an export of these receipts, chained and signed as if they had always been so. */
async function faultsOf(
  contents: readonly ReceiptContent[],
  options?: AuditOptions,
): Promise<[string, number | null, string][]> {
  writeSignedExport(file, () => contents);
  const { faults, isSound } = await verify(file, options);
  expect(isSound).toBe(faults.length === 0);
  expect(await byCommand(file, options)).toEqual({ code: isSound ? 0 : 1, faults });
  return faults.map(({ kind, seq, message }) => [kind, seq, message]);
}

/** The same from the command line, offline. */
async function byCommand(path: string, given: AuditOptions = {}) {
  const { heldHead, key, report: counted } = given;
  const reportFile = join(folder, 'report.json');
  if (counted) await writeFile(reportFile, typeof counted === 'string' ? counted : JSON.stringify(counted));
  const args = [
    ...(heldHead ? ['--held-seq', String(heldHead.seq), '--held-hash', heldHead.hash] : []),
    ...(key ? ['--key', key] : []),
    ...(given.workspaceId ? ['--workspace', given.workspaceId] : []),
    ...(counted ? ['--report', reportFile] : []),
  ];
  const env = { PATH: process.env.PATH, HOME: folder };
  const options = { env, encoding: 'utf8', maxBuffer: 2 ** 24 } as const;
  const command = [MAIN, 'audit', 'verify', path, ...args, '--json'];
  const { status, stdout } = spawnSync(process.execPath, command, options);
  return { code: status, faults: JSON.parse(stdout).faults };
}

const changed = (change: (copies: ReceiptContent[]) => unknown): ReceiptContent[] => {
  const copies = structuredClone(receipts);
  change(copies);
  return copies;
};
const indexOf = (action: string) => receipts.findIndex((one) => one.action === action);

describe('audit.verify', () => {
  it('finds nothing wrong with what is sound, from a file, its address or its bytes', async () => {
    const { keyId, head } = writeSignedExport(file, () => [...repeated(receipts, 2_000)]);
    const verdict = await verify(file, { key: keyId, heldHead: head });
    expect(verdict).toMatchObject({ isSound: true, faults: [], receipts: 2_000, head });
    expect(verdict.words.join('\n')).toMatch(
      /Decisions: (\d+)\. Made again from the receipts alone, \1 came out the same/,
    );
    const bytes = await readFile(file);
    for (const source of [
      new URL(`file://${file}`),
      Readable.from([bytes.subarray(0, 7), bytes.subarray(7)]),
    ])
      expect(await verify(source)).toMatchObject({ isSound: true, receipts: 2_000 });
  });

  it('names one byte that was changed, a row that was deleted, and an end that was cut', async () => {
    const { head } = writeSignedExport(file, () => receipts);
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    const messageOf = async (some: string[]) => {
      const text = `${some.join('\n')}\n`;
      const { faults } = await verify(Readable.from([Buffer.from(text)]));
      await writeFile(file, text);
      expect(await byCommand(file)).toEqual({ code: 1, faults });
      return faults[0]!.message;
    };
    const [at] = [8];
    const one = JSON.parse(lines[at]!).receipt.seq;
    expect(await messageOf(lines.with(at, lines[at]!.replace('\\"success\\"', '\\"sUccess\\"')))).toBe(
      `Line 9: The hash of receipt ${one} does not match its content.`,
    );
    expect(await messageOf(lines.toSpliced(at, 1))).toBe('Line 9: Line 9 is missing.');
    expect(await messageOf(lines.slice(0, at))).toContain('its end was cut off');
    // Deleted in the database, and exported and signed by the service.
    const gone = receipts.toSpliced(4, 1);
    const [fault] = await faultsOf(gone, { heldHead: head });
    expect(fault).toEqual([
      'export',
      null,
      expect.stringContaining(
        `Receipt ${receipts.length} is missing from the end of the chain: the head kept elsewhere is at ${receipts.length}.`,
      ),
    ]);
  });

  it('names a chain that was cut or rewritten, by a head that was kept elsewhere, and another key', async () => {
    const { head: heldHead } = writeSignedExport(file, () => receipts);
    const rewritten = changed((copies) => (copies[3]!.summary = 'Nothing happened.'));
    expect(await faultsOf(rewritten)).toEqual([]);
    expect(await faultsOf(rewritten, { heldHead })).toEqual([
      [
        'export',
        null,
        expect.stringContaining(
          `The chain was rewritten: the hash of receipt ${heldHead.seq} is not the one in the head kept elsewhere.`,
        ),
      ],
    ]);
    expect(await faultsOf(receipts.slice(0, -3), { heldHead })).toEqual([
      ['export', null, expect.stringMatching(/Receipts \d+ to \d+ are missing from the end of the chain/)],
    ]);
    expect(await faultsOf(receipts, { key: 'f'.repeat(16) })).toEqual([
      ['key', null, expect.stringContaining('is not signed by the key')],
    ]);
    await expect(verify(file, { heldHead: { seq: 3, hash: 'abc' } })).rejects.toThrow('heldHead must be');
  });

  it('names what was consumed or sent in a halt, and a decision that does not compute', async () => {
    const killed = indexOf('guardian.killed');
    const consumed = indexOf('action.consumed');
    const inHalt = changed((copies) => {
      const [moved] = copies.splice(consumed, 1);
      copies.splice(killed + 1, 0, moved!);
    });
    expect(await faultsOf(inHalt)).toContainEqual([
      'halt',
      killed + 2,
      expect.stringMatching(
        /the action request act_\w+ was consumed while the kill switch of receipt \d+ was engaged/,
      ),
    ]);
    const sent = changed((copies) => {
      const packet = {
        ...copies[killed]!,
        action: 'packet.executed',
        entity: { type: 'work_packet', id: 'pkt_1' },
        details: {},
      };
      copies.splice(killed + 1, 0, packet);
    });
    expect(await faultsOf(sent)).toContainEqual([
      'halt',
      killed + 2,
      expect.stringContaining('the work packet pkt_1 was sent'),
    ]);
    const allowed = indexOf('action.allowed');
    const decided = changed((copies) => {
      const [decision] = copies[allowed]!.details['decisions'] as { outcome: string }[];
      decision!.outcome = 'require_approval';
    });
    expect(await faultsOf(decided)).toContainEqual(['decision', allowed + 1, expect.any(String)]);
  });

  it('names a number of a report that does not count, in an export and in lines of the feed', async () => {
    const forged = structuredClone(report) as any;
    forged.sections.agentActivity.directivesExecuted = 7;
    const said = 'sections.agentActivity.directivesExecuted: the report says 7, its receipts show 0.';
    expect(await faultsOf(receipts, { report: forged })).toContainEqual(['report', null, said]);
    expect(
      (await faultsOf(receipts, { report })).filter(([, , message]) => message.includes('sections.')),
    ).toEqual([]);
    const lines = await verify(Readable.from([Buffer.from(feed)]), {
      workspaceId,
      report: JSON.stringify(forged),
    });
    expect(lines.faults.map(({ message }) => message)).toContain(said);
    expect(await verify(file, { report: 'not a report' })).toMatchObject({
      isSound: false,
      faults: [{ kind: 'report' }],
    });
  });

  it('names receipts of another workspace, a head they lack, and what is no export at all', async () => {
    const ofFeed = (options: AuditOptions) => verify(Readable.from([Buffer.from(feed)]), options);
    expect(await ofFeed({ workspaceId })).toMatchObject({ isSound: true, receipts: receipts.length });
    expect(await ofFeed({ workspaceId: 'wks_other' })).toMatchObject({
      faults: [{ message: expect.stringContaining("another workspace's") }],
    });
    const heldHead = { seq: receipts.length, hash: 'a'.repeat(64) };
    expect(await ofFeed({ workspaceId, heldHead })).toMatchObject({
      faults: [{ message: expect.stringContaining('The chain was rewritten') }],
    });
    for (const text of ['', 'hello', '[]\n', '{}\n'])
      expect(await verify(Readable.from([Buffer.from(text)]))).toMatchObject({
        isSound: false,
        faults: [{ kind: 'export' }],
      });
    await expect(verify(join(folder, 'none'))).rejects.toThrow('ENOENT');
    await writeFile(file, '');
    expect((await verify(file)).isSound).toBe(false);
  });
});
