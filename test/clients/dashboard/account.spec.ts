import { Secret, TOTP } from 'otpauth';
import PostalMime from 'postal-mime';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Device } from '../../e2e/context/hydrate-desk.js';
import { type MailServer, startMailServer } from '../../e2e/mail/mail-server.js';
import { OidcIssuer } from '../../support/oidc-issuer.js';
import { eventually, type TestApp } from '../../support/test-app.js';
import { DashboardDesk, EMAIL, hasBrowser, PASSWORD } from './dashboard-desk.js';

describe.runIf(hasBrowser)('the session and the account', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;
  let mail: MailServer;
  let issuer: OidcIssuer;

  beforeAll(async () => {
    mail = await startMailServer();
    issuer = await OidcIssuer.start();
    desk = await DashboardDesk.open({ SMTP_URL: mail.url, OIDC_NAME: 'Northwind', ...issuer.environment });
    ({ test, page } = desk);
    issuer.serve(`${test.url}/api/admin/oidc/callback`);
  });
  beforeEach(() => desk.begin());
  afterAll(async () => {
    await desk?.close();
    await mail.close();
    await issuer.stop();
  });

  it('offers the provider of the organisation', async () => {
    await page.goto(`${test.url}/sent`);
    await page.getByRole('link', { name: 'Sign in with Northwind' }).waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('link', { name: 'Sign in with Northwind' }).click();
    await page.waitForURL(`${issuer.url}/**`);
  });

  it('mails a link for a forgotten password, which leads back to the sign-in', async () => {
    await page.goto(test.url);
    await page.getByRole('button', { name: 'I forgot my password' }).click();
    await page.getByLabel('Mail address').fill(EMAIL);
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Mail me a link' }).click();
    await page.getByText('a link is on its way').waitFor();
    const [sent] = await eventually(
      () => Promise.resolve(mail.received),
      (all) => all.length > 0,
    );
    const { text } = await PostalMime.parse(sent!.bytes);
    await page.goto(/http\S+\/password\/[\w-]{43}/.exec(text!)![0]);
    await page.getByLabel('New password').fill(PASSWORD.toUpperCase());
    await page.getByRole('button', { name: 'Set this password' }).click();
    await page.getByRole('link', { name: 'Sign in with the new password' }).click();
    await page.getByLabel('Mail address').fill(EMAIL);
    await page.getByLabel('Password').fill(PASSWORD.toUpperCase());
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  });

  it('changes the password, sets up a second factor, and asks for it', async () => {
    await page.getByRole('link', { name: 'Mira' }).click();
    await page.getByLabel('Current password').fill(PASSWORD.toUpperCase());
    await page.getByLabel('New password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('Your password is changed.').waitFor();
    await page.getByLabel('Your password').fill(PASSWORD);
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Set up' }).click();
    await page.getByText('Add this key to your authenticator').waitFor();
    const secret = await page.locator('section[aria-label="Second factor"] code').textContent();
    const totp = new TOTP({ secret: Secret.fromBase32(secret!) });
    await page
      .getByLabel('Code from your authenticator')
      .fill(totp.generate({ timestamp: test.clock.now() }));
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('button', { name: 'I have saved them' }).click();
    await page.getByText('recovery codes are left').waitFor();
    const codes = () => test.rows('select * from recovery_codes order by 1, 2');
    const before = await codes();
    test.clock.advance(30_000);
    await page.getByText('New recovery codes', { exact: true }).click();
    const form = page.locator('form').filter({ hasText: 'They replace your remaining' });
    await form.getByLabel('Your password').fill(PASSWORD);
    await form
      .getByLabel('Code from your authenticator')
      .fill(totp.generate({ timestamp: test.clock.now() }));
    expect(await desk.findingsEverywhere()).toEqual([]);
    await form.getByRole('button', { name: 'Make new recovery codes' }).click();
    await page.getByText('The previous codes no longer work.').waitFor();
    expect(await codes()).not.toEqual(before);
    await page.getByRole('button', { name: 'I have saved them' }).click();
    await page.getByText('recovery codes are left').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    test.clock.advance(30_000);
    await page.getByLabel('Mail address').fill(EMAIL);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page
      .getByLabel('Code from your authenticator')
      .fill(totp.generate({ timestamp: test.clock.now() }));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('banner').waitFor();
    test.clock.advance(30_000);
    const removal = page.locator('form').filter({ hasText: 'Anybody with your password' });
    await removal.getByLabel('Your password').fill(PASSWORD);
    await removal
      .getByLabel('Code from your authenticator')
      .fill(totp.generate({ timestamp: test.clock.now() }));
    await page.getByRole('button', { name: 'Remove the second factor' }).click();
    await page.getByRole('button', { name: 'Set up' }).waitFor();
    await page.getByRole('banner').getByText('Your second factor is removed').waitFor();
  });

  it('shows the devices that fetched what they need, and sets quiet hours', async () => {
    await page.getByText('None. A program that works').waitFor();
    await new Device(test, test.owner.token!, 'mira-laptop').once();
    await page.reload();
    await page.getByRole('region', { name: 'Devices' }).getByText('mira-laptop').waitFor();
    const hours = page.getByRole('group', { name: /^Quiet hours/ });
    await hours.getByLabel('Quiet from').fill('22:00');
    await hours.getByLabel('Quiet until').fill('07:00');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Save what is mailed' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await test.owner.get('/profile/notifications')).body.own.quietHours).toEqual({
      from: '22:00',
      to: '07:00',
    });
  });

  it('renews the token after input only, and locks over what was typed after 30 minutes', async () => {
    const renewals: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/operator-token')) renewals.push(request.url());
    });
    const id = await desk.handIn('Email jane@acme.example, subject "Tea": "At four."');
    await page.clock.install();
    await page.goto(`${test.url}/approvals/${id}`);
    await page.getByRole('textbox', { name: 'Subject' }).fill('Typed before the lock');
    expect(renewals).toHaveLength(1);
    test.clock.advance(15 * 60_000);
    await page.clock.fastForward('15:00');
    await page
      .getByRole('link', { name: 'Sent and done' })
      .evaluate((link: { click(): void }) => link.click());
    await page.getByRole('heading', { name: 'Sent and done' }).waitFor();
    expect(renewals).toHaveLength(1);
    await page.mouse.click(2, 500);
    await page.getByText('Nothing has been sent or done yet.').waitFor();
    expect(renewals).toHaveLength(2);
    await page.goto(`${test.url}/approvals/${id}`);
    await page.getByRole('textbox', { name: 'Subject' }).waitFor();
    test.clock.advance(31 * 60_000);
    await page.clock.fastForward('31:00');
    await page.getByRole('heading', { name: 'Signed out' }).waitFor();
    expect(await page.locator('body').textContent()).not.toContain('jane');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('textbox', { name: 'Subject' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Subject' }).inputValue()).toBe('Typed before the lock');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Consigliere' }).waitFor();
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('Typed before');
  });

  it('makes a token for an agent, shown once, and pauses, rotates and revokes it', async () => {
    await desk.signIn('/settings/api');
    const inSight = async () => {
      const heading = page.getByRole('heading', { name: 'New token' });
      await eventually(
        () => page.evaluate('document.activeElement.textContent'),
        (focused) => focused === 'New token',
      );
      const { y } = (await heading.boundingBox())!;
      expect(y).toBeGreaterThan(0);
      expect(y).toBeLessThan(page.viewportSize()!.height);
    };
    await page.setViewportSize({ width: 1280, height: 500 });
    await page.getByLabel('Name of the token').fill('Refunds');
    await page.getByLabel('For an agent').check();
    await page.getByLabel('Name of the agent').fill('refund-bot');
    await page.getByLabel('Its tools').fill('pay.*, crm.note');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Make the token' }).click();
    const shown = page.getByRole('region', { name: 'New token' });
    await shown.getByText('consigliere mcp proxy').waitFor();
    await inSight();
    expect(await desk.findingsEverywhere()).toEqual([]);
    const token = await shown.locator('pre').first().textContent();
    await shown.getByRole('button', { name: 'I have saved it' }).click();
    expect(await page.locator('body').textContent()).not.toContain(token);
    for (const act of ['Pause', 'Resume', 'Rotate']) {
      await page
        .getByRole('button', { name: `${act} Refunds` })
        .first()
        .click();
      expect(await desk.findings()).toEqual([]);
      await page.getByRole('dialog').getByRole('button', { name: act }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await inSight();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('button', { name: 'Revoke Refunds' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const { items } = (await test.owner.get('/tokens')).body;
    const made = items.filter(({ agent }: any) => agent?.name === 'refund-bot');
    expect(made).toMatchObject([
      { tools: ['pay.*', 'crm.note'], revokedAt: expect.any(Number) },
      { revokedAt: expect.any(Number) },
    ]);
  });

  it('ends the session before anything is shown again, where signing out did not reach the service', async () => {
    await page.goto(test.url);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await page.route('**/api/admin/session', (route) =>
      route.request().method() === 'DELETE' ? route.abort('internetdisconnected') : route.continue(),
    );
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Password').waitFor();
    const session = async () => (await page.request.get(`${test.url}/api/admin/session`)).status();
    expect(await session()).toBe(200);
    await page.reload();
    await page.getByLabel('Password').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.reload();
    await page.getByLabel('Password').waitFor();
    await eventually(session, (status) => status === 401);
  });
});
