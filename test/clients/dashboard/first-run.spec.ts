import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually, type TestApp } from '../../support/test-app.js';
import { DashboardDesk, hasBrowser } from './dashboard-desk.js';

const UNREACHABLE = 'owner@example.com';

describe.runIf(hasBrowser)('the first run', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;

  beforeAll(async () => {
    desk = await DashboardDesk.open(
      { BOOTSTRAP_OWNER_EMAIL: UNREACHABLE },
      { timezoneId: 'Europe/Vienna', reducedMotion: 'reduce' },
    );
    ({ test, page } = desk);
    await desk.begin();
    await desk.signIn('/', UNREACHABLE);
  });
  beforeEach(() => desk.begin());
  afterAll(() => desk?.close());

  const firstRun = () => page.getByRole('region', { name: 'First run' });
  const step = (title: string) => page.getByRole('listitem').filter({ hasText: title });

  it('asks for name, zone, sender and currency, with the zone of the browser filled in', async () => {
    await firstRun().getByLabel('Time zone').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    expect(await firstRun().getByLabel('Time zone').inputValue()).toBe('Europe/Vienna');
    expect(await firstRun().getByLabel('Who signs mails').inputValue()).toBe('Owner');
    await firstRun().getByLabel('Name of your organisation').fill('Northwind');
    await firstRun().getByLabel('Who signs mails').fill('Mira Novak');
    await firstRun().getByLabel('Currency').selectOption('EUR');
    await firstRun().getByLabel('Signature').waitFor();
    await firstRun().getByRole('button', { name: 'Save' }).click();
    await page.getByText('Time zone Europe/Vienna, sender Mira Novak, currency EUR').waitFor();
    expect((await test.owner.get('/settings')).body).toMatchObject({
      timezone: 'Europe/Vienna',
      currency: 'EUR',
      sender: { name: 'Mira Novak', signature: 'Mira Novak' },
    });
    expect(await test.rows('select name from workspaces')).toEqual([{ name: 'Northwind' }]);
  });

  it('says what is not configured, tests it, and gives the lines for .env', async () => {
    const mail = firstRun().getByRole('region', { name: 'Mail' });
    await mail.getByText('SMTP_URL=').waitFor();
    await firstRun().getByText('PUBLIC_URL=').waitFor();
    await mail.getByRole('button', { name: 'Send me a test mail' }).click();
    await mail.getByText('It does not work. Mail is written to files').waitFor();
    const model = firstRun().getByRole('region', { name: 'Model' });
    await model.getByRole('button', { name: 'Test the model' }).click();
    await model.getByText('It works. Drafts are made by the built-in runner').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
  });

  it('says that nobody is mailed at example.com, and invites an owner who is', async () => {
    await firstRun().getByText('Nobody receives mail at this address').waitFor();
    await page.getByLabel('Your own email address').fill('mira@acme.example');
    await page.getByRole('button', { name: 'Invite me as owner' }).click();
    await page.getByText('mira@acme.example is invited as owner.').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    const outbox = join(test.dataDir, 'outbox');
    const mails = await eventually(
      async () => Promise.all((await readdir(outbox)).map((name) => readFile(join(outbox, name), 'utf8'))),
      (all) => all.some((mail) => mail.includes('/invites/')),
    );
    expect(mails.find((mail) => mail.includes('/invites/'))).toContain('To: mira@acme.example');
  });

  it('goes when it is not wanted, and stays away', async () => {
    await firstRun().getByRole('button', { name: 'Do not show this again' }).click();
    await firstRun().waitFor({ state: 'detached' });
    await page.reload();
    await page.getByText('Nothing waits for you.').waitFor();
    expect(await firstRun().count()).toBe(0);
    await page.evaluate('localStorage.clear()');
    await page.reload();
    await firstRun().waitFor();
  });

  it('ticks the steps off as they are done elsewhere, and then disappears', async () => {
    expect(await step('Hand in a directive').getByText('done', { exact: true }).count()).toBe(0);
    const id = await desk.handIn('Email jane@acme.example, subject "Tea": "At four."');
    await step('Hand in a directive').getByText('done', { exact: true }).waitFor();
    await firstRun().getByLabel('Time zone').waitFor({ state: 'detached' });
    // The sender that was asked for signs, and the preview shows it; where a person words the text it is offered.
    await page.goto(`${test.url}/approvals/${id}`);
    const text = page.getByRole('textbox', { name: /^Text/ });
    await text.waitFor();
    expect(await text.inputValue()).toBe('At four.\n\nMira Novak');
    const lacking = await desk.handIn('Email bob@acme.example that we moved.');
    await page.goto(`${test.url}/approvals/${lacking}`);
    await text.fill('We are at Dock 4 now.');
    await page.getByRole('button', { name: 'Add the signature' }).click();
    expect(await text.inputValue()).toBe('We are at Dock 4 now.\n\nMira Novak');
    expect(await page.getByRole('button', { name: 'Add the signature' }).count()).toBe(0);
    expect(await desk.findingsEverywhere()).toEqual([]);
    await test.owner.post(`/approvals/${lacking}/reject`, { feedback: 'Seen.' });
    await page.goto(test.url);
    await test.owner.post(`/approvals/${id}/approve`);
    await step('Approve a draft').getByText('done', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Make a standing order' }).click();
    await page.getByLabel('What it says').selectOption('Never do it');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Make it' }).click();
    await step('Make a standing order').getByText('done', { exact: true }).waitFor();
    expect((await test.owner.get('/standing-orders')).body.items).toMatchObject([
      { name: 'Sending mail: Never do it', effect: 'deny', status: 'active' },
    ]);
    await page.getByRole('button', { name: 'Stop everything' }).click();
    await page.getByLabel('Type HALT').fill('HALT');
    await page.getByRole('dialog').getByRole('button', { name: 'Stop everything' }).click();
    // While the dialog is open, what lies behind it is not to be found either.
    await page.getByText('Everything is stopped: ').waitFor();
    await firstRun().waitFor({ state: 'detached' });
    expect((await test.owner.get('/setup')).body.steps).toEqual({
      directive: true,
      approval: true,
      order: true,
      killDrill: true,
    });
    for (const path of ['/service', '/setup', '/guardian']) {
      await page.goto(test.url + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(await page.getByText(/first (steps|run)/i).count()).toBe(0);
      expect(await desk.findingsEverywhere()).toEqual([]);
    }
    expect(desk.complaints).toEqual([]);
  });
});
