import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SignalDesk } from '../../e2e/records/signal-desk.js';
import type { TestApp } from '../../support/test-app.js';
import { DashboardDesk, DESK, hasBrowser, PHONE } from './dashboard-desk.js';

describe.runIf(hasBrowser)('the overview', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;
  let teamId: string;

  beforeAll(async () => {
    desk = await DashboardDesk.open();
    ({ test, page } = desk);
    teamId = await test.createTeam(test.workspaceId, 'North');
    await desk.begin();
    await desk.signIn('/overview');
  });
  beforeEach(() => desk.begin());
  afterAll(() => desk?.close());

  it('shows the boss figures with a text for each line, the report of the day, and what each capo did', async () => {
    await page.getByRole('heading', { name: 'Report of the day' }).waitFor();
    await page.getByText('Carried out in 7 days').waitFor();
    expect(await page.getByRole('img').count()).toBe(6);
    const label = await page.getByRole('img').nth(1).getAttribute('aria-label');
    expect(label).toMatch(/^Last 30 days: lowest 0, highest 0, today 0\.$/);
    const metrics = page.getByRole('region', { name: 'Metrics' });
    await metrics.getByText('Median time to a decision').waitFor();
    await metrics.getByText('waits for approval').waitFor();
    await page.getByRole('region', { name: 'Inbox' }).getByText('Nothing waits for anybody.').waitFor();
    await page.getByLabel('Your comment').fill('Well done.');
    await page.reload();
    expect(await page.getByLabel('Your comment').inputValue()).toBe('Well done.');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Comment' }).click();
    await page.getByRole('listitem').filter({ hasText: 'Well done.' }).waitFor();
    expect((await test.owner.get('/family/comment')).body.items).toMatchObject([{ body: 'Well done.' }]);
    expect(desk.complaints).toEqual([]);
  });

  it('has revenue recorded, in the currency of the workspace', async () => {
    await page.goto(`${test.url}/overview?view=boss`);
    await page.getByText('No revenue has been recorded yet.').waitFor();
    await page.getByText('Record revenue').press('Enter');
    await page.getByLabel('Amount').fill('600.5');
    expect(await page.getByLabel('Currency').inputValue()).toBe('USD');
    await page.getByLabel('From whom').fill('Acme');
    await page.getByLabel('For what').fill('Pallets');
    await page.getByLabel('Earned by').selectOption({ label: 'North' });
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Recorded: $600.50 from Acme.').waitFor();
    await page.getByRole('listitem').filter({ hasText: '$600.50 from Acme' }).waitFor();
    expect((await test.owner.get('/revenue-events')).body.items).toMatchObject([
      { amount: 600.5, currency: 'USD', source: 'Acme', description: 'Pallets', teamId },
    ]);
    expect(desk.complaints).toEqual([]);
  });

  it('shows a capo the work and what to look at, and remembers the view and the team in the address', async () => {
    await page.goto(`${test.url}/overview?view=boss`);
    await desk.handIn('Email eva@acme.example, subject "Tea": "At four."');
    await page.getByRole('region', { name: 'Inbox' }).getByRole('link', { name: /eva/ }).waitFor();
    const signalId = await new SignalDesk(test).raise({ teamId });
    await page.getByRole('link', { name: 'Capo', exact: true }).click();
    await page.getByRole('link', { name: /eva/ }).waitFor();
    await page.getByLabel('Team').selectOption({ label: 'North' });
    await page.waitForURL(`**/overview?view=capo&team=${teamId}`);
    await page.getByRole('heading', { name: 'Work packets of the team' }).waitFor();
    await page.getByText('No work yet.').waitFor();
    expect((await test.owner.get(`/work-packets?teamId=${teamId}`)).body).toMatchObject({
      items: [],
      total: 0,
    });
    await page.getByRole('button', { name: 'Acknowledge A buyer went quiet' }).waitFor();
    await page.getByText('Read', { exact: true }).click();
    const { body: text } = (await test.owner.get(`/signals/${signalId}`)).body;
    await page.getByText(text).waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Acknowledge A buyer went quiet' }).click();
    await page.getByText('No open signals.').waitFor();
    expect((await test.owner.get(`/signals/${signalId}`)).body.acknowledgedBy).toMatchObject({
      name: 'Mira',
    });
    await page.goto(`${test.url}/overview`);
    await page.getByRole('heading', { name: 'Work packets of all your teams' }).waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    expect(desk.complaints).toEqual([]);
  });

  it('has an auditor verify the chain, and take it along', async () => {
    await page.goto(`${test.url}/overview?view=auditor`);
    await page.getByRole('button', { name: 'Verify the chain' }).click();
    await page.getByText(/No fault found: each of the \d+ receipts is in its place/).waitFor();
    expect(await page.getByText(/rewritten|cannot be told|signing key/).count()).toBe(0);
    const downloaded = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    const file = await (await downloaded).path();
    expect(await readFile(file, 'utf8')).toContain('directive.created');
    await page.getByText('The file has all receipts that you may see.').waitFor();
    await page.getByRole('button', { name: 'CSV of connectors' }).waitFor();
    await page
      .getByText(/Earlier checks of/)
      .first()
      .click();
    expect(await desk.findingsEverywhere()).toEqual([]);
    expect(desk.complaints).toEqual([]);
  });

  it('looks in the guides as it does here', async () => {
    await test.owner.post('/questions', {
      title: 'Which plan does Karl get?',
      answerSchema: { type: 'object', properties: { plan: { type: 'string', enum: ['basic', 'pro'] } } },
    });
    await desk.handIn('Email karl@acme.example, subject "Rent": "It is due on Friday."');
    const id = await desk.handIn('Email jane@acme.example that we moved.');
    // Some time after the first run.
    await page.evaluate(`localStorage.setItem('first-run:${test.workspaceId}', 'dismissed')`);
    await page.goto(`${test.url}/approvals/${id}`);
    await page.getByText('Still missing').waitFor();
    await page.getByRole('textbox', { name: 'Subject' }).fill('We moved');
    expect((await desk.picture('dashboard-inbox-light', DESK, 'light')).length).toBeLessThan(120_000);
    await page.goto(test.url);
    await page.getByRole('link', { name: /jane/ }).waitFor();
    expect((await desk.picture('dashboard-phone-dark', PHONE, 'dark')).length).toBeLessThan(120_000);
  });
});
