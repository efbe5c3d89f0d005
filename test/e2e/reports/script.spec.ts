import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../support/test-app.js';

const SCRIPT = join(import.meta.dirname, '../../../dist/scripts/verify-export.js');

let test: TestApp;
let folder: string;
let receipts: string;
let report: Record<string, any>;
beforeAll(async () => {
  test = await startTestApp();
  folder = await mkdtemp(join(tmpdir(), 'consigliere-report-'));
  receipts = join(folder, 'receipts.jsonl');
  await test.owner.post('/revenue-events', { amount: 12.5, currency: 'USD', source: 'shop' });
  report = (await test.owner.get('/reports/daily')).body;
  await writeFile(receipts, (await test.owner.get('/audit-feed?format=jsonl')).text);
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await test.close();
});

const run = (...parameters: string[]) =>
  promisify(execFile)(process.execPath, [SCRIPT, ...parameters]).then(
    ({ stdout }) => ({ code: 0, out: stdout }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      out: stdout + stderr,
    }),
  );

async function saved(content: unknown): Promise<string> {
  const file = join(folder, 'report.json');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

describe('npm run verify-export -- --receipts <file> --report <file>', () => {
  it('counts every number again', async () => {
    const { code, out } = await run(
      '--receipts',
      receipts,
      '--report',
      await saved(report),
      '--workspace',
      test.workspaceId,
    );
    expect(out).toContain('every number that could be counted is the same.');
    expect(code).toBe(0);
  });

  it('names the number that differs', async () => {
    const changed = structuredClone(report);
    changed['sections'].revenue.total = 1_000_000;
    const { code, out } = await run(
      '--receipts',
      receipts,
      '--report',
      await saved(changed),
      '--workspace',
      test.workspaceId,
    );
    expect(out).toContain('1 difference was found:');
    expect(out).toContain('sections.revenue.total: the report says 1000000, its receipts show 12.5.');
    expect(code).toBe(1);
  });

  it('says what it was not given', async () => {
    const wrong = await run('--receipts', receipts, '--report', await saved('not a report'));
    expect(wrong).toMatchObject({
      code: 1,
      out: expect.stringContaining('The file is no report as GET /reports/daily answers it.'),
    });
    const alone = await run('--report', await saved(report), receipts);
    expect(alone).toMatchObject({ code: 1, out: expect.stringContaining('say --receipts as well') });
  });
});
