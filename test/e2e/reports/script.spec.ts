import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { ReportDesk } from './report-desk.js';

const SECTION = {
  sectionId: 'sec_01khqw6q006hs686p8sr7arg9t',
  title: 'Pipeline',
  capo: 'capo_revenue',
  status: 'done',
  body: 'All is sold.',
  error: null,
};

const SCRIPT = join(import.meta.dirname, '../../../dist/scripts/verify-export.js');

let test: TestApp;
let desk: ReportDesk;
let folder: string;
let receipts: string;
let report: Record<string, any>;
let soFar: Record<string, any>;
beforeAll(async () => {
  test = await startTestApp();
  const noon = new Date(test.clock.now());
  noon.setUTCHours(12, 0, 0, 0);
  test.clock.advance(noon.getTime() - test.clock.now());
  folder = await mkdtemp(join(tmpdir(), 'consigliere-report-'));
  receipts = join(folder, 'receipts.jsonl');
  desk = await ReportDesk.open(test);
  await desk.owner.put('/reports/config', { schedule: 'on-demand' });
  soFar = (await desk.daily(desk.day(0))).body;
  await desk.owner.post('/revenue-events', { amount: 12.5, currency: 'USD', source: 'shop' });
  test.clock.advance(86_400_000);
  report = (await desk.daily(desk.day(1))).body;
  await writeFile(receipts, (await desk.owner.get('/audit-feed?format=jsonl')).text);
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

async function verified(content: unknown) {
  const file = await saved(content);
  return run('--receipts', receipts, '--report', file, '--workspace', desk.workspaceId);
}

describe('npm run verify-export -- --receipts <file> --report <file>', () => {
  it('counts all of a report again', async () => {
    expect(report['partial']).toBe(false);
    const { code, out } = await verified(report);
    expect(out).toContain('all that it says is what its receipts show.');
    expect(out).not.toContain('Not counted');
    expect(code).toBe(0);
  });

  it('says what of a partial report it cannot count, and does not end as if it had', async () => {
    expect(soFar['partial']).toBe(true);
    const { code, out } = await verified(soFar);
    expect(out).toContain('no difference was found, but not all that it says could be counted:');
    expect(out).toContain('\nNot counted: date, timezone, generatedAt, partial, ');
    expect(code).toBe(2);
  });

  it('names the number that differs', async () => {
    const changed = structuredClone(report);
    changed['sections'].revenue.total = 1_000_000;
    const { code, out } = await verified(changed);
    expect(out).toContain('2 differences were found:');
    expect(out).toContain('sections.revenue.total: the report says 1000000, its receipts show 12.5.');
    expect(out).toMatch(/The report is not as it was made: receipt \d+ holds the hash of other contents\./);
    expect(code).toBe(1);
  });

  it.each<[string, (forged: Record<string, any>) => unknown, string]>([
    ['a headline', (forged) => (forged['headline'] = 'All fine'), 'headline: the report says "All fine"'],
    ['an id', (forged) => (forged['reportId'] = newId('rpt')), 'reportId: the report says'],
    [
      'numbers under the cover of being partial',
      (forged) => {
        forged['partial'] = true;
        forged['sections'].revenue.events[0].amount = 1;
        forged['sections'].approvalQueue.urgent = 7;
        forged['headline'] = 'All is quiet';
      },
      'sections.revenue.events[0].amount: the report says 1, its receipts show 12.5.',
    ],
    [
      'words under the cover of being partial',
      (forged) => {
        forged['partial'] = true;
        forged['sections'].revenue.events[0].description = 'FORGED';
      },
      'The report is not as it was made',
    ],
    ['a section', (forged) => forged['customSections'].push(SECTION), 'Not counted: customSections'],
  ])('does not pass %s that was forged', async (_what, forge, told) => {
    const forged = structuredClone(report);
    forge(forged);
    const { code, out } = await verified(forged);
    expect(out).toContain(told);
    expect(out).not.toContain('all that it says is');
    expect(code).not.toBe(0);
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
