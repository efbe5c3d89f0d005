import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { Ledger } from '../audit/ledger.js';
import { Desk } from '../directives/desk.js';

const DIST = join(import.meta.dirname, '../../../dist');
const SCRIPT = join(DIST, 'scripts/verify-export.js');

/** Names each module as it is loaded. */
const NAMES_MODULES = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({ resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    console.log(resolved.url);
    return resolved;
  } });`)}`;

let test: TestApp;
let folder: string;
let file: string;
let killedSeq: number;
let forgedSeq: number;
const workPacketId = newId('pkt');
beforeAll(async () => {
  test = await startTestApp();
  folder = await mkdtemp(join(tmpdir(), 'consigliere-receipts-'));
  file = join(folder, 'feed.jsonl');
  const desk = new Desk(test);
  const ledger = await Ledger.open(test, test.workspaceId);
  await desk.handInReady();
  await desk.kill();
  killedSeq = (await ledger.head()).seq;
  const entity = { type: 'work_packet', id: workPacketId };
  await ledger.append({ action: 'packet.executed', entity, summary: 'Sent it.' });
  forgedSeq = (await ledger.head()).seq;
  await writeFile(file, (await desk.client.get('/audit-feed?format=jsonl')).text);
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await test.close();
});

const run = (...parameters: string[]) =>
  promisify(execFile)(process.execPath, parameters).then(
    ({ stdout }) => ({ code: 0, out: stdout }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      out: stdout + stderr,
    }),
  );

describe('npm run verify-export -- --receipts', () => {
  it('names what was sent while the kill switch was engaged, and counts the decisions', async () => {
    const { code, out } = await run(SCRIPT, '--receipts', file, '--workspace', test.workspaceId);
    expect(out.trimEnd().split('\n')).toEqual([
      `Receipts: ${forgedSeq}, from 1 to ${forgedSeq}, with 0 gaps.`,
      'Every hash belongs to its receipt.',
      'The kill switch was used once; something was sent before its revert:',
      `Receipt ${forgedSeq} records that the work packet ${workPacketId} was sent while the kill switch of receipt ${killedSeq} was engaged.`,
      'Decisions: 1. Made again from the receipts alone, 1 came out the same and 0 differences were found.',
    ]);
    expect(code).toBe(1);
  });

  it('says which workspace it needs to compute hashes again, and what it was not given', async () => {
    expect(await run(SCRIPT, '--receipts', file)).toMatchObject({
      code: 1,
      out: expect.stringContaining('Name the workspace whose receipts these are, with --workspace <id>'),
    });
    const foreign = newId('wks');
    expect(await run(SCRIPT, '--receipts', file, '--workspace', foreign)).toEqual({
      code: 1,
      out: `No hash of these ${forgedSeq} receipts matches in the workspace ${foreign}: they are another workspace's, or all of them were changed.\n`,
    });
    expect(await run(SCRIPT, '--receipts')).toMatchObject({
      code: 1,
      out: expect.stringContaining('Say which file'),
    });
    for (const [given, told] of [
      [['--receipts', file, test.workspaceId], `Say what ${test.workspaceId} is: --workspace or --key.`],
      [['--receipts', file, '--key', 'k'], '--key is for the export of a workspace'],
    ] as const)
      expect(await run(SCRIPT, ...given)).toMatchObject({ code: 1, out: expect.stringContaining(told) });
    const unknown = await run(SCRIPT, '--receits', file);
    expect(unknown).toMatchObject({ code: 1, out: expect.stringContaining("Unknown option '--receits'") });
    expect(unknown.out).not.toContain('    at ');
  });
});

describe('the verifier by itself', () => {
  it('loads nothing of the service: no framework and no database', async () => {
    const { out } = await run('--import', NAMES_MODULES, join(DIST, 'src/features/verifier/verifier.js'));
    const modules = out.trim().split('\n');
    expect(modules.some((url) => url.endsWith('/standing-orders/evaluate.js'))).toBe(true);
    expect(
      modules.filter((url) => /@nestjs|typeorm|node_modules\/pg\/|platform\/database/.test(url)),
    ).toEqual([]);
  });
});
