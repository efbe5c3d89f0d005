import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestApp } from '../../support/test-app.js';
import { DashboardDesk, hasBrowser } from './dashboard-desk.js';

/** Reads a file as RFC 4180 has it. */
function read(text: string): Record<string, string>[] {
  expect(text.startsWith('\u{FEFF}')).toBe(true);
  expect(text.endsWith('\r\n')).toBe(true);
  const lines: string[][] = [[]];
  // A cell, and what ends it.
  for (const [, quoted, bare, end] of text.slice(1).matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    lines.at(-1)!.push(quoted === undefined ? bare! : quoted.replaceAll('""', '"'));
    if (end === '\r\n') lines.push([]);
  }
  expect(lines.pop()).toEqual([]);
  const [header, ...rows] = lines;
  expect(rows.every((row) => row.length === header!.length)).toBe(true);
  return rows.map((row) => Object.fromEntries(row.map((cell, at) => [header![at]!, cell])));
}

describe.runIf(hasBrowser)('a list as CSV', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;

  beforeAll(async () => {
    desk = await DashboardDesk.open();
    ({ test, page } = desk);
    await desk.begin();
    await desk.signIn('/setup');
  });
  beforeEach(() => desk.begin());
  afterAll(() => desk?.close());

  const save = async (name: string) => {
    const downloaded = page.waitForEvent('download');
    await page.getByRole('button', { name: `CSV of ${name}`, exact: true }).click();
    const file = await downloaded;
    expect(file.suggestedFilename()).toBe(`${name.replaceAll(' ', '-')}.csv`);
    return read(await readFile(await file.path(), 'utf8'));
  };
  const leaveRevenue = (from: number, to: number) =>
    test.rows(
      `insert into revenue_events (event_id, workspace_id, amount, currency, source, description, occurred_at, recorded_by, created_at)
       select 'rev_' || lpad(n::text, 26, '0'), $1, -n, 'EUR', 'Acme', '=1+' || n, now() - n * interval '1 minute',
         '{}', now() from generate_series($2::int, $3::int) n`,
      [test.workspaceId, from, to],
    );

  it('gives each text back as it is, and none as a formula', async () => {
    const names = [
      '=HYPERLINK("http://evil.example","x")',
      '+49 30',
      '-5',
      '@SUM(A1)',
      'a; =b',
      'Zürich, "Süd"',
    ];
    for (const name of names) await test.createTeam(test.workspaceId, name);
    await page.getByRole('link', { name: /^People/ }).click();
    const rows = await save('teams');
    expect(rows.map(({ name }) => name).toSorted()).toEqual(
      names.map((name) => (/^[=+\-@]/.test(name) ? `'${name}` : name)).toSorted(),
    );
    const { items } = (await test.owner.get('/teams')).body;
    expect(rows.map(({ teamId }) => teamId).toSorted()).toEqual(
      items.map(({ teamId }: any) => teamId).toSorted(),
    );
    await page.getByText('The file has all 6 rows.').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    expect(desk.complaints).toEqual([]);
  });

  it('has what the list is narrowed to, and no more', async () => {
    await desk.handIn('Email karl@acme.example, subject "Rent": "It is due on Friday."');
    const cancelled = await test.owner.post('/directives', {
      directive: 'File a note "Rent": "It is due."',
      capo: 'capo_ops',
    });
    await test.owner.post(`/directives/${cancelled.body.directiveId}/cancel`);
    await page.goto(`${test.url}/directives`);
    expect(await save('directives')).toHaveLength(2);
    await page.getByLabel('Show').selectOption('cancelled');
    await page.waitForURL('**/directives?status=cancelled');
    await page.getByText('1 to 1').or(page.getByText('note')).first().waitFor();
    expect(await save('directives')).toMatchObject([
      {
        directiveId: cancelled.body.directiveId,
        status: 'cancelled',
        'createdBy.name': 'Mira',
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      },
    ]);
  });

  it('has all pages, with amounts as numbers', async () => {
    await leaveRevenue(1, 250);
    await page.goto(`${test.url}/overview?view=boss`);
    const rows = await save('revenue');
    expect(rows).toHaveLength(250);
    expect(rows.map(({ amount }) => Number(amount))).toEqual(Array.from({ length: 250 }, (_, at) => -1 - at));
    expect(rows[0]).toMatchObject({ description: "'=1+1" });
    await page.getByText('The file has all 250 rows.').waitFor();
  });

  it('says plainly that it was cut', async () => {
    await leaveRevenue(251, 2_001);
    await page.reload();
    expect(await save('revenue')).toHaveLength(2_000);
    await page.getByText('The file has only the first 2,000 rows.').waitFor();
    expect(await desk.findings()).toEqual([]);
    expect(desk.complaints).toEqual([]);
  });

  it('waits where the service asks for it, and says so', async () => {
    // Thirty requests a minute: each file takes twenty.
    await save('revenue');
    await page.getByRole('button', { name: 'CSV of revenue' }).click();
    await page.getByText(/rows read; too many requests, it continues in \d+ s\./).waitFor();
    expect(await desk.findings()).toEqual([]);
  });
});
