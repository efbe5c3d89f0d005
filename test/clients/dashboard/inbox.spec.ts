import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { MAIL_TO_ACME, OrderDesk } from '../../e2e/standing-orders/order-desk.js';
import type { TestApp } from '../../support/test-app.js';
import { DashboardDesk, EMAIL, hasBrowser, PASSWORD, PHONE } from './dashboard-desk.js';

describe.runIf(hasBrowser)('the inbox', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;

  beforeAll(async () => {
    desk = await DashboardDesk.open();
    ({ test, page } = desk);
  });

  afterAll(() => desk?.close());
  beforeEach(() => desk.begin());

  it('is behind the sign-in, which says what is wrong', async () => {
    await page.goto(test.url);
    await page.getByLabel('Mail address').fill(EMAIL);
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('req_');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    expect(await page.getByText('Nothing waits for you').count()).toBe(1);
  });

  it('shows what is handed in elsewhere, has it completed and approved, and goes on to the next', async () => {
    const lacking = await desk.handIn('Email jane@acme.example that we moved.');
    const other = await desk.handIn('Email karl@acme.example, subject "Rent": "It is due on Friday."');
    await page.getByRole('link', { name: /karl/ }).waitFor();
    await page.getByRole('link', { name: /jane/ }).click();
    const approve = page.getByRole('button', { name: 'approve' });
    await page.getByText('Still missing: ').waitFor();
    expect(await approve.isDisabled()).toBe(true);
    expect(await desk.findings()).toEqual([]);
    await page.getByRole('textbox', { name: 'Subject' }).fill('We moved');
    await page.getByRole('textbox', { name: /^Text/ }).fill('Our new address is Dock 4.');
    await page.reload();
    expect(await page.getByRole('textbox', { name: 'Subject' }).inputValue()).toBe('We moved');
    await page.getByRole('button', { name: 'Save and approve' }).click();
    await page.waitForURL(`**/approvals/${other}`);
    const { body } = await test.owner.get(`/approvals/${lacking}`);
    expect(body).toMatchObject({ status: 'approved', decidedBy: { name: 'Mira' } });
    expect(body.packets[0].action.params).toMatchObject({
      subject: 'We moved',
      body: 'Our new address is Dock 4.',
    });
    expect(desk.complaints).toEqual([]);
  });

  it('says what was decided, and decides nothing more by the second click of a double click', async () => {
    const ids: string[] = [];
    for (const name of ['ada', 'bob'])
      ids.push(await desk.handIn(`Email ${name}@acme.example, subject "Lunch": "At one."`));
    await page.goto(`${test.url}/approvals/${ids[0]}`);
    await page.getByRole('link', { name: /bob/ }).waitFor();
    const approve = page.getByRole('button', { name: 'Approve' });
    await approve.click({ trial: true });
    await approve.dblclick({ delay: 20 });
    await page
      .getByRole('status')
      .getByText(/^Approved: .*ada@acme\.example/)
      .waitFor();
    await page.waitForURL((url) => !url.pathname.endsWith(ids[0]!));
    await page.getByRole('button', { name: 'Approve' }).click({ trial: true });
    const statuses = ids.map(async (id) => (await test.owner.get(`/approvals/${id}`)).body.status);
    expect(await Promise.all(statuses)).toEqual(['approved', 'pending']);
    await page.goto(`${test.url}/approvals/${ids[1]}`);
    await approve.click();
    await page.getByText(/^Approved: .*bob/).waitFor();
  });

  it('hands in, says before what would become of it, and shows its life', async () => {
    await page.getByRole('link', { name: 'Directives' }).click();
    await page.getByLabel('What should be done').fill('Email eva@acme.example, subject "Tea": "At four."');
    await page.getByText('drafts it: Mail to eva@acme.example').waitFor();
    await page.getByText('You are asked before it leaves.').waitFor();
    await page.getByRole('button', { name: 'Hand in' }).click();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('link', { name: 'Sent and done' }).click();
    await page.getByRole('link', { name: /eva/ }).click();
    await page.getByText('carried out').first().waitFor();
    expect(await page.getByRole('listitem').allTextContents()).toEqual(
      expect.arrayContaining([expect.stringMatching(/^carried out .*Receipt/)]),
    );
    expect(await desk.findings()).toEqual([]);
    expect(desk.complaints).toEqual([]);
  });

  it('lets standing orders decide what is handed in so, and nothing else', async () => {
    const orders = new OrderDesk(test);
    const orderId = await orders.active(MAIL_TO_ACME);
    const asks = page.getByLabel('Ask a person even where a standing order would let it go');
    await page.getByRole('link', { name: 'Directives' }).click();
    const handIn = async (text: string) => {
      await page.getByLabel('What should be done').fill(text);
      await page.getByText('drafts it: Mail to').waitFor();
    };
    await handIn('Email lia@acme.example, subject "Tea": "At four."');
    await page.getByText('Nobody is asked: it goes by itself').waitFor();
    await page.getByText(/Mail to Acme.? allows this/).waitFor();
    await asks.check();
    await page.getByText('You are asked before it leaves, as the box below says.').waitFor();
    await asks.uncheck();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Hand in' }).click();
    await page.waitForURL('**/directives/dir_*');
    await page.getByRole('link', { name: 'Sent and done' }).click();
    await page.getByRole('heading', { name: 'Sent and done' }).waitFor();
    await page.getByText(/lia/).first().waitFor();
    await page.getByRole('link', { name: 'Mail to Acme' }).first().waitFor();

    await page.getByRole('link', { name: 'Directives' }).click();
    // What no order allows is asked about, and its approval is shown at once.
    expect(await asks.isChecked()).toBe(false);
    await handIn('Email lia@elsewhere.example, subject "Tea": "At four."');
    await page.getByText('You are asked before it leaves.').waitFor();
    await page.getByRole('button', { name: 'Hand in' }).click();
    await page.waitForURL('**/approvals/apr_*');
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor();
    // Nor does one go that a person wants to be asked about.
    await page.getByRole('link', { name: 'Directives' }).click();
    await handIn('Email mia@acme.example, subject "Tea": "At five."');
    await asks.check();
    await page.getByRole('button', { name: 'Hand in' }).click();
    await page.waitForURL('**/approvals/apr_*');
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Directives' }).click();
    expect(await asks.isChecked()).toBe(false);
    await test.owner.post(`/standing-orders/${orderId}/pause`, {});
  });

  it('stops everything, and says who did', async () => {
    await page.getByRole('button', { name: 'Stop everything' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Why').fill('A drill');
    await dialog.getByRole('button', { name: 'Stop everything' }).click();
    expect((await test.owner.get('/guardian')).body.mode).not.toBe('killed');
    await dialog.getByLabel('Type HALT').fill('HALT');
    expect(await desk.findings()).toEqual([]);
    await dialog.getByRole('button', { name: 'Stop everything' }).click();
    await page.getByText('Everything is stopped').waitFor();
    expect((await test.owner.get('/guardian')).body).toMatchObject({ mode: 'killed', reason: 'A drill' });
    expect(await desk.findings()).toEqual([]);
  });

  it('keeps the operator token out of storage and address', async () => {
    const kept = await page.evaluate('JSON.stringify([localStorage, sessionStorage, location.href])');
    expect(kept).not.toContain('cons_');
  });

  it('is usable on a phone, light and dark', async () => {
    await page.goto(test.url);
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.setViewportSize(PHONE);
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    const cut = await links.evaluateAll(
      (all) => all.filter((one) => one.scrollWidth > one.clientWidth).length,
    );
    expect(cut).toBe(0);
  });
});
