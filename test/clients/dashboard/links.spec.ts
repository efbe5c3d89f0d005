import PostalMime from 'postal-mime';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EscalationDesk } from '../../e2e/escalations/escalation-desk.js';
import { type MailServer, startMailServer } from '../../e2e/mail/mail-server.js';
import { eventually, type TestApp } from '../../support/test-app.js';
import { DashboardDesk, DESK, EMAIL, hasBrowser, PASSWORD, PHONE } from './dashboard-desk.js';

describe.runIf(hasBrowser)('the links of mails', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;
  let mail: MailServer;
  let read = 0;

  beforeAll(async () => {
    mail = await startMailServer();
    desk = await DashboardDesk.open({
      SMTP_URL: mail.url,
      MAIL_FROM: 'Consigliere <consigliere@acme.example>',
    });
    ({ test, page } = desk);
    await desk.begin();
    await desk.signIn('/sent');
  });
  beforeEach(() => desk.begin());
  afterAll(async () => {
    await desk?.close();
    await mail.close();
  });

  /** The links in the text of the next mail that the server got, as its bytes have them. */
  async function nextLinks(subject: RegExp): Promise<string[]> {
    const [found] = await eventually(
      async () => {
        const parsed = await Promise.all(
          mail.received
            .slice(read)
            .map(async ({ bytes }, index) => ({ index, mail: await PostalMime.parse(bytes) })),
        );
        return parsed.filter((one) => subject.test(one.mail.subject ?? ''));
      },
      (all) => all.length > 0,
    );
    read += found!.index + 1;
    return [...found!.mail.text!.matchAll(/<(http\S+)>/g)].map(([, link]) => link!);
  }

  it('of an approval: its own page, used or not, which leads to the approval', async () => {
    const id = await desk.handIn('Email jane@acme.example, subject "Tea": "At four."');
    const [link] = await nextLinks(/Tea|jane/);
    expect(link).toMatch(new RegExp(`^${test.url}/a/`));
    await page.goto(link!);
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await page.getByRole('link', { name: 'Open it in the dashboard' }).click();
    await page.waitForURL(`${test.url}/approvals/${id}`);
    await page.getByRole('textbox', { name: 'Subject' }).waitFor();
    await page.goto(link!);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('heading', { name: 'Approved' }).waitFor();
    await page.goto(link!);
    await page.getByText('This link has been used').waitFor();
    const left = await eventually(
      async () => (await test.owner.get('/audit-feed/sent')).body.items,
      (items) => items.length > 0,
    );
    expect(left).toMatchObject([{ transport: 'smtp', approvalId: id, approvedBy: ['Mira'] }]);
    await page.getByRole('link', { name: 'Open it in the dashboard' }).click();
    await page.waitForURL(`${test.url}/approvals/${id}`);
  });

  it('of a directive that failed: to the directive', async () => {
    const { body } = await test.owner.post('/directives', {
      directive: 'Pay out revenue of 900 EUR',
      capo: 'capo_revenue',
    });
    const links = await nextLinks(/^Failed/);
    expect(links).toEqual([`${test.url}/directives/${body.directiveId}`, `${test.url}/account`]);
    await page.goto(links[0]!);
    await page.getByRole('heading', { name: /revenue/i }).waitFor();
  });

  it('of an escalation: to the escalation, open or decided', async () => {
    const escalationId = await new EscalationDesk(test).open();
    const [link] = await nextLinks(/^A person has to decide/);
    expect(link).toBe(`${test.url}/escalations/${escalationId}`);
    await page.goto(link!);
    await page.getByText('The printer is on fire.').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Dismiss' }).click();
    await page.getByText('dismissed by Mira').waitFor();
    expect(await page.getByRole('button', { name: 'Dismiss' }).count()).toBe(0);
  });

  it('of the kill switch: to the page that ends it', async () => {
    await test.owner.post('/guardian/killswitch', { reason: 'drill' });
    const [link] = await nextLinks(/^Stopped/);
    expect(link).toBe(`${test.url}/guardian`);
    await page.goto(link!);
    await page.getByRole('heading', { name: 'Safety' }).waitFor();
  });

  it('of a report: to the report of that day; and to what one is mailed', async () => {
    await test.rows(`update workspaces set created_at = now() - interval '9 days'`);
    const delivery = { email: true, emailAddress: EMAIL };
    await test.owner.put('/reports/config', { delivery });
    const date = new Date(test.clock.now() - 3 * 86_400_000).toISOString().slice(0, 10);
    const { reportId } = (await test.owner.get(`/reports/daily?date=${date}`)).body;
    await test.owner.post(`/reports/${reportId}/resend`);
    const links = await nextLinks(/Daily Report/);
    expect(links[0]).toBe(`${test.url}/overview?view=boss&date=${date}`);
    expect(links.some((link) => link.includes('/unsubscribe/'))).toBe(true);
    await page.goto(links[0]!);
    await page.getByLabel('Day of the report').waitFor();
    await page.getByText(`${date}, UTC.`).waitFor();
    await page.goto(`${test.url}/account`);
    await page.getByLabel('Approvals: I am mailed').selectOption('once a day, urgent ones at once');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Save what is mailed' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await test.owner.get('/profile/notifications')).body.own).toMatchObject({ approvals: 'digest' });
    expect(desk.complaints).toEqual([]);
  });

  it('of an invite: accepted on a phone, signed in, and in the inbox', async () => {
    await test.owner.post('/members', { email: 'jo@acme.example', role: 'operator' });
    const [link] = await nextLinks(/invites you/);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Mail address').waitFor();
    await page.setViewportSize(PHONE);
    await page.goto(link!);
    await page.getByLabel('Your name').fill('Jo Berg');
    await page.getByLabel(/^Password/).fill(PASSWORD);
    const faults = await desk.findingsEverywhere();
    expect(faults).toEqual([]);
    await page.setViewportSize(PHONE);
    await page.getByRole('button', { name: 'Accept' }).click();
    await page.getByRole('heading', { name: /^Welcome to/ }).waitFor();
    expect(await page.getByText('cons_').isVisible()).toBe(false);
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.setViewportSize(PHONE);
    await page.getByRole('link', { name: 'Open your inbox' }).click();
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'Jo Berg' }).waitFor();
    expect(await page.getByRole('region', { name: 'First run' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'API' }).count()).toBe(0);
    await page.setViewportSize(DESK);
  });
});
