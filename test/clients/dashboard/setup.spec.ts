import PostalMime from 'postal-mime';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type MailServer, startMailServer } from '../../e2e/mail/mail-server.js';
import { leaveReport } from '../../e2e/reports/report-rows.js';
import { type EventReceiver, startEventReceiver } from '../../support/event-receiver.js';
import { eventually, type TestApp } from '../../support/test-app.js';
import { DashboardDesk, hasBrowser } from './dashboard-desk.js';

describe.runIf(hasBrowser)('schedules, the Daily Report and connections', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;
  let mail: MailServer;
  let receiver: EventReceiver;

  beforeAll(async () => {
    mail = await startMailServer();
    // What is sent first is lost.
    receiver = await startEventReceiver((_received, response, count) => {
      response.writeHead(count === 1 ? 500 : 200).end(count === 1 ? 'no room today' : 'kept');
    });
    desk = await DashboardDesk.open({ SMTP_URL: mail.url, OUTBOUND_ALLOW: receiver.hostPort });
    ({ test, page } = desk);
    await desk.begin();
    await desk.signIn('/setup');
  });
  beforeEach(() => desk.begin());
  afterAll(async () => {
    await desk?.close();
    await mail.close();
    await receiver.close();
  });

  const step = async (verb: string, of: string) => {
    await page.getByRole('button', { name: `${verb} ${of}`, exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: verb, exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  const schedule = async () => (await test.rows('select * from schedules'))[0];

  it('makes a schedule in words, and shows its next five times', async () => {
    await page.getByRole('link', { name: 'Schedules' }).click();
    await page.getByText('No schedule yet.').waitFor();
    await page.getByText('Make a schedule').click();
    await page.getByLabel('Name', { exact: true }).fill('Board memo');
    await page.getByLabel('What should be done each time').fill('File a note "Memo": "All is well."');
    await page.getByRole('combobox', { name: 'Each', exact: true }).selectOption('Monday');
    await page.getByLabel('At', { exact: true }).fill('09:00');
    await page.getByLabel('By the clock of').fill('Europe/Berlin');
    await page.getByLabel('Who does it').selectOption('Ops');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Make the schedule' }).click();
    await page.getByText('Each Monday at 09:00, Europe/Berlin', { exact: true }).waitFor();
    await page.getByText('Next times and runs of Board memo').click();
    await page.locator('ol time').nth(4).waitFor();
    expect(await page.locator('ol time').count()).toBe(5);
    expect(await desk.findingsEverywhere()).toEqual([]);
    const { schedule_id: id } = (await schedule())!;
    expect((await test.owner.get(`/schedules/${String(id)}`)).body.directive).toMatchObject({
      capo: 'capo_ops',
      requiresApproval: true,
    });
    expect(await schedule()).toMatchObject({
      name: 'Board memo',
      rule: { every: 'week', on: 'mon', at: '09:00', timezone: 'Europe/Berlin' },
      missed: 'once',
    });
    expect(desk.complaints).toEqual([]);
  });

  it('runs, changes, pauses, resumes and deletes it', async () => {
    await step('Run now', 'Board memo');
    await page.getByRole('link', { name: /^File a note/ }).waitFor();
    await page.getByText('Change Board memo').click();
    const form = page.locator('form').filter({ hasText: 'Save the schedule' });
    await form.getByRole('combobox', { name: 'Each', exact: true }).selectOption('month');
    await form.getByLabel('On day').fill('31');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await form.getByRole('button', { name: 'Save the schedule' }).click();
    await page.getByText('On day 31 of each month at 09:00, Europe/Berlin', { exact: true }).waitFor();
    await step('Pause', 'Board memo');
    await page.getByText('None while it is paused.').waitFor();
    expect(await schedule()).toMatchObject({ status: 'paused', rule: { every: 'month', on: 31 } });
    await step('Resume', 'Board memo');
    await page.locator('ol time').nth(4).waitFor();
    expect(await schedule()).toMatchObject({ status: 'active' });
    await step('Delete', 'Board memo');
    await page.getByText('No schedule yet.').waitFor();
    expect(await schedule()).toBeUndefined();
    // It may be read once more for its entry of before, just after it is gone.
    expect(desk.complaints.filter((one) => !one.includes('404'))).toEqual([]);
  });

  it('sets the report to 07:00 with its zone, address and sections, and sends one again', async () => {
    await leaveReport(test.rows, test.workspaceId, '2026-01-05');
    await page.goto(`${test.url}/report`);
    await page.getByText('It is mailed to nobody.').waitFor();
    await page.getByLabel('At', { exact: true }).fill('07:00');
    await page.getByLabel(/^Zone/).fill('Europe/Vienna');
    await page.getByLabel('And to the address').fill('ops@northwind.example');
    await page.getByLabel('What models cost').uncheck();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('It is mailed to ops@northwind.example.').waitFor();
    expect((await test.owner.get('/reports/config')).body).toMatchObject({
      delivery: {
        time: '07:00',
        timezone: 'Europe/Vienna',
        email: true,
        emailAddress: 'ops@northwind.example',
      },
      sections: { costLedger: false, revenue: true },
      schedule: 'daily',
    });
    await step('Send again', 'the report of 2026-01-05');
    const sent = await eventually(() =>
      Promise.resolve(mail.received.find(({ to }) => to.includes('ops@northwind.example'))),
    );
    expect((await PostalMime.parse(sent!.bytes)).subject).toContain('Nothing happened.');
    await page.getByText('mailed', { exact: true }).first().waitFor();
    expect(desk.complaints).toEqual([]);
  });

  it('adds and deletes a section of its own', async () => {
    await page.getByLabel('Title of the section').fill('Pipeline');
    await page.getByLabel('What it answers').fill('File a summary of the open offers.');
    await page.getByRole('button', { name: 'Add the section' }).click();
    await page.getByRole('listitem').filter({ hasText: 'Pipeline' }).waitFor();
    expect(await test.rows('select title from custom_report_sections')).toEqual([{ title: 'Pipeline' }]);
    expect(await desk.findingsEverywhere()).toEqual([]);
    await step('Delete', 'Pipeline');
    await page.getByText('None. A capo can answer').waitFor();
    expect(desk.complaints).toEqual([]);
  });

  it('makes a webhook, shows its secret once, and what a receiver answered; sends it again', async () => {
    await page.getByRole('link', { name: 'Set-up' }).click();
    await page.getByRole('link', { name: 'Connections' }).click();
    await page.getByText('None yet. Make the first one below.').waitFor();
    await page.getByLabel('What it is for').fill('Warehouse');
    await page.getByLabel('Address', { exact: false }).first().fill(receiver.url);
    await page.getByLabel('work was carried out').check();
    await page.getByLabel('the Daily Report was made').check();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Make the webhook' }).click();
    const secret = page.getByRole('region', { name: 'Secret' });
    await secret.getByText(/^whsec_/).waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await secret.getByRole('button', { name: 'I have saved it' }).click();
    expect(await page.locator('body').textContent()).not.toContain('whsec_');
    expect(await test.rows('select description, events from webhook_destinations')).toEqual([
      { description: 'Warehouse', events: ['directive.executed', 'report.daily'] },
    ]);
    await step('Send a test', 'to Warehouse');
    await page.getByText('2 attempts').click();
    await page.getByText('no room today').waitFor();
    await page.getByText('answered 500').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: /^Send again: a test/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
    await page.getByText('1 of 1 delivered.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByText('1 attempt', { exact: true }).waitFor();
    expect(receiver.received).toHaveLength(3);
    expect(
      await test.rows(
        'select status, jsonb_array_length(attempts) as attempts from webhook_deliveries order by created_at',
      ),
    ).toEqual([
      { status: 'delivered', attempts: 2 },
      { status: 'delivered', attempts: 1 },
    ]);
    expect(desk.complaints).toEqual([]);
  });

  it('sends many again at once, and names the one that was not', async () => {
    const statuses = () =>
      test.rows('select status, count(*)::int as n from webhook_deliveries group by status order by 1');
    await step('Send a test', 'to Warehouse');
    await eventually(statuses, (all) => all[0]!['n'] === 3);
    await test.rows(`update webhook_deliveries set status = 'dead'`);
    await page.reload();
    await page.getByRole('button', { name: 'Show what was lost to Warehouse' }).click();
    await page.getByRole('button', { name: 'Choose all that were lost' }).click();
    await page.getByText('2 chosen.').waitFor();
    await test.rows(
      'delete from webhook_deliveries where delivery_id = (select max(delivery_id) from webhook_deliveries)',
    );
    await page.getByRole('button', { name: 'Send 2 again' }).click();
    expect(await desk.findingsEverywhere()).toEqual([]);
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Send 2 again' }).click();
    await dialog.getByText('1 of 2 delivered, 1 not sent.').waitFor();
    const told = await dialog.getByRole('listitem').allTextContents();
    expect(told).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^a test, .*: delivered: the receiver answered 200$/),
        expect.stringMatching(/^a test, .*: There is no such resource, or you may not see it\.$/),
      ]),
    );
    expect(await desk.findingsEverywhere()).toEqual([]);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await eventually(statuses, (all) => all.some(({ status }) => status === 'delivered'));
    expect(await statuses()).toEqual([
      { status: 'dead', n: 2 },
      { status: 'delivered', n: 1 },
    ]);
    expect(receiver.received).toHaveLength(5);
    expect(desk.complaints.filter((one) => !one.includes('404'))).toEqual([]);
  });

  it('shows each connector with what helps, the model budget, and the partner secret', async () => {
    await test.rows(
      `update connectors set status = 'red', reason = 'It refused our credentials.', consecutive_failures = 3,
         last_checked_at = now(), next_check_at = now() + interval '1 day' where kind = 'mail'`,
    );
    await page.reload();
    const connectors = page.getByRole('region', { name: 'Connectors' });
    await connectors.getByText('Check SMTP_URL and MAIL_FROM').waitFor();
    await connectors.getByText('Earlier checks of Mail').click();
    const budget = page.getByRole('region', { name: 'Model budget' });
    await budget.getByText('None is set').waitFor();
    await budget.getByLabel('US dollars a day').fill('2.5');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await budget.getByRole('button', { name: 'Save the model budget' }).click();
    await budget.getByText('Once a day’s budget is used up').waitFor();
    expect((await test.owner.get('/settings')).body.modelBudget).toMatchObject({ amount: 2.5, tokens: null });
    await budget.getByLabel('US dollars a day').fill('');
    await budget.getByRole('button', { name: 'Save the model budget' }).click();
    await budget.getByText('None is set').waitFor();
    expect((await test.owner.get('/settings')).body.modelBudget).toBeNull();
    await step('Rotate', 'the partner secret');
    const secret = page.getByRole('region', { name: 'Secret', exact: true });
    const made = await secret.locator('pre').textContent();
    await secret.getByRole('button', { name: 'I have saved it' }).click();
    await step('Show', 'the partner secret');
    expect(await secret.locator('pre').textContent()).toBe(made);
    await secret.getByRole('button', { name: 'I have saved it' }).click();
    expect(desk.complaints).toEqual([]);
  });

  it('shows a document that a capo filed', async () => {
    const { body } = await test.owner.post('/directives', {
      directive: 'File a note "Rent": "It is due on Friday."',
      capo: 'capo_ops',
    });
    await test.owner.get(`/approvals/${body.approvalId}?wait=10`);
    await page.goto(`${test.url}/documents`);
    await page.getByText('None yet. A directive').waitFor();
    await test.owner.post(`/approvals/${body.approvalId}/approve`);
    await page.getByText('Read Rent').click();
    await page.getByText('It is due on Friday.').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.goto(`${test.url}/connections`);
    expect(desk.complaints).toEqual([]);
  });

  it('rotates the secret, and deletes the webhook', async () => {
    await page.getByRole('button', { name: 'Rotate the secret of Warehouse' }).click();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate the secret' }).click();
    await page
      .getByRole('region', { name: 'Secret' })
      .getByText(/^whsec_/)
      .waitFor();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await step('Delete', 'Warehouse');
    await page.getByText('None yet. Make the first one below.').waitFor();
    expect((await test.owner.get('/webhooks')).body.items).toEqual([]);
    expect(desk.complaints).toEqual([]);
  });

  it('shows a viewer no button that they may not press', async () => {
    await test.rows(`update members set role = 'viewer' where workspace_id = $1`, [test.workspaceId]);
    const sentences = {
      '/schedules': 'Operators make schedules.',
      '/report': 'Admins set when it is made',
      '/connections': 'Connections are made by the role admin.',
    };
    for (const [path, sentence] of Object.entries(sentences)) {
      await page.goto(test.url + path);
      await page.getByText(sentence).waitFor();
      expect(await desk.buttons()).toEqual([]);
      expect(await desk.findings()).toEqual([]);
    }
  });
});
