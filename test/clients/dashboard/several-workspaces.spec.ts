import PostalMime from 'postal-mime';
import { chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startMailServer } from '../../e2e/mail/mail-server.js';
import { chromiumPath } from '../../support/chromium.js';
import { Client } from '../../support/client.js';
import { eventually, type TestApp } from '../../support/test-app.js';
import { DashboardDesk, EMAIL, hasBrowser, PASSWORD } from './dashboard-desk.js';

const ADDRESS = '10.9.8.7';

describe.runIf(hasBrowser)('a person in several workspaces', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;
  let own: string;
  let foreign: string;
  let killed: () => Promise<string[]>;

  beforeAll(async () => {
    desk = await DashboardDesk.open();
    ({ test, page } = desk);
    const { workspaceId } = await test.createWorkspace();
    // Another one has invited Mira, with more rights than anybody else gives her.
    await test.rows(
      `insert into members (member_id, workspace_id, user_id, role)
       select 'mem_' || substr($1, 5), $1, user_id, 'owner' from users where email = $2`,
      [workspaceId, EMAIL],
    );
    await test.rows(`update members set role = 'operator' where workspace_id = $1`, [test.workspaceId]);
    const names = await test.rows<{ workspace_id: string; name: string }>(
      'select workspace_id, name from workspaces',
    );
    own = names.find(({ workspace_id: id }) => id === test.workspaceId)!.name;
    foreign = names.find(({ workspace_id: id }) => id === workspaceId)!.name;
    killed = async () =>
      (
        await test.rows<{ name: string }>(
          `select w.name from guardians g join workspaces w using (workspace_id) where g.mode = 'killed'`,
        )
      ).map(({ name }) => name);
    await desk.begin();
    await desk.signIn('/approvals/apr_00000000000000000000000000');
  });
  beforeEach(() => desk.begin());
  afterAll(() => desk?.close());

  const workspace = () => page.getByRole('banner').getByLabel('Workspace');

  it('is in the one that they were in before, whose name stands in the bar', async () => {
    expect(await workspace().locator('option:checked').textContent()).toBe(own);
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
  });

  it('is told where else to look for what is not there', async () => {
    await page.getByText(`This is the workspace ${own}.`).waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: `Look in ${foreign}` }).click();
    await page.getByText(`This is the workspace ${foreign}.`).waitFor();
    expect(page.url()).toContain('/approvals/apr_0');
  });

  it('changes to another one, in every tab', async () => {
    const other = await page.context().newPage();
    await other.goto(`${test.url}/directives`);
    await other.getByRole('heading', { name: 'Directives' }).waitFor();
    await workspace().selectOption(`Change to ${own}`);
    await page.waitForURL(`${test.url}/`);
    await other.getByRole('option', { name: `Change to ${foreign}` }).waitFor({ state: 'attached' });
    await other.close();
    expect(await workspace().locator('option:checked').textContent()).toBe(own);
  });

  it('leaves nothing of one person on the screen where another one signs in, in another tab', async () => {
    const { memberId } = await test.createMember(test.workspaceId, 'operator');
    await test.rows(
      `update users set email = 'noa@acme.example', password_hash = mira.password_hash
       from members, (select password_hash from users where email = $2) mira
       where users.user_id = members.user_id and members.member_id = $1`,
      [memberId, EMAIL],
    );
    await page.goto(`${test.url}/directives`);
    await page.getByLabel('What should be done').fill('Of Mira alone');
    const other = await page.context().newPage();
    await other.goto(test.url);
    const { request } = page;
    const session = `${test.url}/api/admin/session`;
    const { csrfToken } = (await (await request.get(session)).json()) as { csrfToken: string };
    const ended = await request.delete(session, { headers: { 'X-CSRF-Token': csrfToken } });
    expect(ended.status()).toBe(200);
    await desk.signIn('/', 'noa@acme.example', other);
    await page.getByRole('link', { name: /^operator / }).waitFor();
    expect(await page.getByLabel('What should be done').inputValue()).toBe('');
    await other.close();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Password').waitFor();
    await desk.signIn();
  });

  it('finds in each what they typed there, and never in the other', async () => {
    const about = page.getByLabel('What should be done');
    const change = async (to: string) => {
      await workspace().selectOption(`Change to ${to}`);
      await page.getByRole('heading', { name: 'Inbox' }).waitFor();
      await page.waitForFunction(
        `document.querySelector('select[aria-label=Workspace] option:checked')?.textContent === ${JSON.stringify(to)}`,
      );
      await page.getByRole('link', { name: 'Directives' }).click();
      await about.waitFor();
    };
    await page.getByRole('link', { name: 'Directives' }).click();
    await about.fill('A plan of the one');
    await change(foreign);
    expect(await about.inputValue()).toBe('');
    await about.fill('A plan of the other');
    await change(own);
    expect(await about.inputValue()).toBe('A plan of the one');
    await change(foreign);
    expect(await about.inputValue()).toBe('A plan of the other');
    await change(own);
    // A former person of this tab, whose session ended by itself, leaves nothing to the next one.
    await page.evaluate(`sessionStorage.setItem('typed-by', 'jo@acme.example')`);
    await page.reload();
    await about.waitFor();
    expect(await about.inputValue()).toBe('');
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('A plan of');
  });

  it('stops the one that the dialog names, again and again until it is done, and no other', async () => {
    // Two seconds are waited for without a word.
    test.clock.stopAtMinute();
    test.clock.advance(56_000);
    await page.setExtraHTTPHeaders({ 'X-Forwarded-For': ADDRESS });
    const mine = new Client(test.url, test.owner.token);
    for (let call = 0; call < 30; call++) {
      const { status } = await mine.post(
        '/guardian/kill-switch',
        { reason: 7 },
        { 'X-Forwarded-For': ADDRESS },
      );
      expect(status).toBe(422);
    }
    await page.getByRole('button', { name: 'Stop everything' }).click();
    const dialog = page.getByRole('dialog', { name: `Stop everything in ${own}` });
    await dialog.getByText('Your other workspaces go on.').waitFor();
    await dialog.getByLabel('Why').fill('A drill');
    await dialog.getByLabel('Type HALT').fill('HALT');
    await dialog.getByRole('button', { name: 'Stop everything' }).click();
    await dialog.getByText('Leave this open: it is tried again in').waitFor();
    expect(await desk.findings()).toEqual([]);
    expect(await killed()).toEqual([]);
    test.clock.advance(5_000);
    await page
      .getByRole('alert')
      .filter({ hasText: `${own}: everything is stopped` })
      .waitFor();
    expect(await killed()).toEqual([own]);
    expect((await test.owner.get('/guardian')).body.reason).toBe('A drill');
    test.clock.goOn();
  });
});

describe.runIf(hasBrowser)('the dashboard over plain http', { timeout: 60_000 }, () => {
  it('says what it needs, where the name is not localhost; an invite is accepted there all the same', async () => {
    const mail = await startMailServer();
    const desk = await DashboardDesk.open({ SMTP_URL: mail.url });
    const browser = await chromium.launch({
      executablePath: chromiumPath()!,
      args: ['--no-sandbox', '--host-resolver-rules=MAP consigliere.test 127.0.0.1'],
    });
    try {
      const page = await browser.newPage();
      const at = desk.test.url.replace('127.0.0.1', 'consigliere.test');
      await page.goto(at);
      await page.getByText('The dashboard needs https, or the name localhost').waitFor();
      expect(await page.getByLabel('Password').count()).toBe(0);
      expect(await desk.findingsEverywhere(page)).toEqual([]);

      await desk.test.owner.post('/members', { email: 'jo@acme.example', role: 'operator' });
      const received = await eventually(
        () => Promise.resolve(mail.received),
        ({ length }) => length > 0,
      );
      const { text } = await PostalMime.parse(received[0]!.bytes);
      await page.goto(`${at}/invites/${/\/invites\/([\w-]{43})/.exec(text!)![1]}`);
      await page.getByLabel('Your name').fill('Jo');
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Accept' }).click();
      await page.getByRole('heading', { name: 'Welcome to' }).waitFor();
      expect(await page.context().cookies()).toHaveLength(1);
    } finally {
      await browser.close();
      await desk.close();
      await mail.close();
    }
  });
});
