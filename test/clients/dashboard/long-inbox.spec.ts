import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestApp } from '../../support/test-app.js';
import { DashboardDesk, hasBrowser } from './dashboard-desk.js';

const PENDING = 250;

describe.runIf(hasBrowser)('an inbox of several pages', { timeout: 180_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;
  /** The pages of the inbox that were asked for. */
  const lists: string[] = [];

  beforeAll(async () => {
    desk = await DashboardDesk.open();
    ({ test, page } = desk);
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/api/pro/approvals' && searchParams.get('limit') === '100')
        lists.push(searchParams.get('cursor') ?? searchParams.get('offset') ?? '');
    });
    await desk.begin();
    await desk.handIn('Email jane@acme.example, subject "Tea": "At four."');
    await desk.signIn();
    const copies = (table: string, changes: string, where: string) =>
      test.rows(`insert into ${table} select (jsonb_populate_record(null::${table}, to_jsonb(t) || jsonb_build_object(${changes}))).*
        from (select * from ${table} where ${where} limit 1) t, generate_series(1, ${PENDING - 1}) n`);
    const directive = `'directive_id', 'dir_' || lpad(n::text, 26, '0')`;
    await copies('directives', directive, `status = 'pending_approval'`);
    await copies(
      'approvals',
      `'approval_id', 'apr_' || lpad(n::text, 26, '0'), ${directive}, 'title', 'Mail number ' || n || '.'`,
      `status = 'pending'`,
    );
  });
  beforeEach(async () => {
    await desk.begin();
    lists.splice(0);
  });
  afterAll(() => desk?.close());

  const rows = () => page.getByRole('region', { name: 'Inbox' }).getByRole('listitem').count();
  const more = () => page.getByRole('button', { name: /^Show .*more of/ });
  const shown = async (count: number) => {
    await expect.poll(rows, { timeout: 10_000 }).toBe(count);
  };
  const idOf = (n: number) => `apr_${String(n).padStart(26, '0')}`;

  it('has as many pages as the address says, each asked for once', async () => {
    await page.goto(test.url);
    await shown(100);
    await more().click();
    await shown(200);
    expect(page.url()).toContain('page=2');
    expect(lists).toHaveLength(2);
    lists.splice(0);
    await page.reload();
    await shown(200);
    expect(lists).toHaveLength(2);
    await more().click();
    await shown(PENDING);
    expect(await more().count()).toBe(0);
    expect(new Set(lists).size).toBe(3);
  });

  it('shows what remains, where much of it was decided while a person read', async () => {
    await page.goto(test.url);
    await shown(100);
    // The stream told nothing of these.
    await test.rows(`delete from approvals where approval_id between $1 and $2`, [idOf(1), idOf(60)]);
    while ((await more().count()) > 0 && lists.length < 10) {
      const before = await rows();
      await more().click();
      await expect.poll(rows, { timeout: 5_000 }).toBeGreaterThan(before);
      await expect.poll(() => more().and(page.locator(':disabled')).count()).toBe(0);
    }
    expect(lists.length).toBeLessThanOrEqual(3);
    for (const n of [61, 150, PENDING - 1])
      expect(await page.getByRole('link', { name: `Mail number ${n}.` }).count()).toBe(1);
  });

  it('keeps its place under a reader, and offers what is new without what was decided', async () => {
    await page.goto(`${test.url}/?page=2`);
    await shown(PENDING - 60);
    const late = page.getByRole('link', { name: `Mail number ${PENDING - 1}.` });
    expect(await late.count()).toBe(1);
    await test.rows(`delete from approvals where approval_id = $1`, [idOf(PENDING - 1)]);
    lists.splice(0);
    await desk.handIn('Email karl@acme.example, subject "Tea": "At five."');
    const newer = page.getByRole('button', { name: 'There are newer ones' });
    await newer.waitFor();
    expect(await desk.findings()).toEqual([]);
    await newer.click();
    await page.getByRole('link', { name: /karl/ }).waitFor();
    expect(await late.count()).toBe(0);
    expect(lists).toHaveLength(2);
  });

  it('goes on with the next page once all of the first is decided', async () => {
    await page.goto(test.url);
    await shown(100);
    await page.getByRole('checkbox').first().check();
    await page.getByRole('button', { name: /^Choose all/ }).click();
    await page.getByRole('button', { name: 'Decide 100 at once' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason for rejecting').fill('Not this year.');
    await dialog.getByRole('button', { name: 'Reject 100' }).click({ timeout: 100_000 });
    await dialog.getByText('100 of 100 decided.').waitFor({ timeout: 30_000 });
    await dialog.getByRole('button', { name: 'Close' }).click();
    await shown(PENDING - 60 - 100);
    expect(await more().count()).toBe(0);
  });
});
