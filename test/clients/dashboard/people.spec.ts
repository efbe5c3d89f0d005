import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type MailServer, startMailServer } from '../../e2e/mail/mail-server.js';
import { eventually, type TestApp } from '../../support/test-app.js';
import { DashboardDesk, hasBrowser, PASSWORD } from './dashboard-desk.js';

const JO = 'jo@northwind.example';

describe.runIf(hasBrowser)('people', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;
  let mail: MailServer;

  beforeAll(async () => {
    mail = await startMailServer();
    desk = await DashboardDesk.open({ SMTP_URL: mail.url });
    ({ test, page } = desk);
    await desk.begin();
    await desk.signIn();
  });
  beforeEach(() => desk.begin());
  afterAll(async () => {
    await desk?.close();
    await mail.close();
  });

  const inDialog = async (verb: string, name: string, pressed = verb) => {
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: pressed, exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  const linkOf = async (count: number) => {
    const all = await eventually(
      () => Promise.resolve(mail.received),
      (received) => received.length >= count,
    );
    const { text } = await PostalMime.parse(all.at(-1)!.bytes);
    return /\/invites\/([\w-]{43})/.exec(text!)![1]!;
  };

  it('makes a team, and renames it', async () => {
    await page.getByRole('link', { name: 'Set-up' }).click();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('link', { name: 'People' }).click();
    await page.getByText('No team yet').waitFor();
    await page.getByText('Nobody is invited at present.').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByLabel('Name of the new team').fill('Sale');
    await page.getByRole('button', { name: 'Make the team' }).click();
    await page.getByRole('button', { name: 'Rename Sale' }).click();
    await page.getByRole('dialog').getByLabel('New name').fill('Sales');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Rename Sales' }).waitFor();
    expect(await test.rows('select name from teams')).toEqual([{ name: 'Sales' }]);
    expect(desk.complaints).toEqual([]);
  });

  it('keeps what is typed through a reload, and says what a bad address lacks', async () => {
    await page.getByLabel('Mail address of the colleague').fill('jo@northwind');
    await page.reload();
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    const failure = page.getByRole('alert').filter({ hasText: 'Quote' });
    await failure.waitFor();
    expect(await page.getByLabel('Mail address of the colleague').inputValue()).toBe('jo@northwind');
    expect(await failure.textContent()).toMatch(/mail address.*Quote req_/s);
    expect(await desk.findingsEverywhere()).toEqual([]);
  });

  it('invites into a team by mail, sends the invite again, and shows who came', async () => {
    await page.getByLabel('Mail address of the colleague').fill(JO);
    await page.getByLabel('Name of the colleague').fill('Jo');
    await page.getByRole('combobox', { name: 'Team', exact: true }).selectOption('Sales');
    await page.getByLabel('Role in the team').selectOption('operator');
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByText(`A mail with a link goes to ${JO}`).waitFor();
    const lost = await linkOf(1);
    const invites = page.getByRole('region', { name: 'Invites' });
    await invites.getByText('mailed').waitFor();
    await invites.getByText('Jo', { exact: true }).waitFor();
    await invites.getByText(JO).first().waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await inDialog('Send again', `Send again the invite of ${JO}`);
    const token = await linkOf(2);
    const accept = (given: string) =>
      test.owner.post('/invites/accept', { token: given, displayName: 'Jo Lind', password: PASSWORD });
    expect((await accept(lost)).status).toBe(404);
    expect((await accept(token)).status).toBe(201);
    // It is told by the feed: nobody has loaded the page again.
    const members = page.getByRole('region', { name: 'Members' });
    await members.getByText('Jo Lind').waitFor();
    await members.getByText('operator of the team Sales').waitFor();
    await members.getByText('mailed approvals, escalations').first().waitFor();
    await page.getByText('Nobody is invited at present.').waitFor();
    expect(desk.complaints).toEqual([]);
  });

  it('takes an invite back', async () => {
    await page.getByLabel('Mail address of the colleague').fill('mistyped@northwind.example');
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await inDialog('Take back', 'Take back the invite of mistyped@northwind.example');
    await page.getByText('Nobody is invited at present.').waitFor();
    expect(await test.rows('select status from invites order by created_at')).toEqual([
      { status: 'accepted' },
      { status: 'withdrawn' },
    ]);
  });

  it('shows a member their team and sessions, and no button that they may not press', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await desk.signIn('/people', JO);
    await page.getByText('Admins invite people and change roles.').waitFor();
    await page.locator('summary').filter({ hasText: 'Sales' }).click();
    await page.getByRole('region', { name: 'Teams' }).getByText('Jo Lind').waitFor();
    const buttons = await desk.buttons();
    expect(buttons).toEqual(['Save what I am mailed']);
    await page.getByLabel('Approvals: I am mailed').selectOption('digest');
    await page.getByRole('button', { name: 'Save what I am mailed' }).click();
    await eventually(
      () => test.rows('select approvals from notification_choices'),
      ([row]) => row?.['approvals'] === 'digest',
    );
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.context().clearCookies();
    expect(desk.complaints).toEqual([]);
  });

  it('changes roles, ends a session of somebody else, and removes them', async () => {
    await page.reload();
    await desk.signIn('/people');
    const jo = page.getByRole('region', { name: 'Members' }).getByRole('listitem').filter({ hasText: JO });
    await jo.getByRole('button', { name: 'Change the role of Jo Lind' }).click();
    await page.getByRole('dialog').getByLabel('Role in the workspace').selectOption('operator');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Change the role' }).click();
    await jo.getByText('operator of the workspace').waitFor();
    await page.locator('summary').filter({ hasText: 'Sales' }).click();
    await page.getByRole('button', { name: 'Change the role of Jo Lind in Sales' }).click();
    await page.getByRole('dialog').getByLabel('Role in the team').selectOption('admin');
    await page.getByRole('dialog').getByRole('button', { name: 'Change the role' }).click();
    await jo.getByText('admin of the team Sales').waitFor();
    await page.getByRole('button', { name: /^End the session of Jo Lind/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End' }).click();
    // While the dialog is open, what lies behind it is not to be found.
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /^End the session of Jo Lind/ }).waitFor({ state: 'detached' });
    await page.getByText('Nobody else is signed in.').waitFor();
    expect(
      await test.rows(
        `select count(*)::int from sessions s join members m using (member_id)
        join users u on u.user_id = m.user_id where u.email = $1 and s.ended_at is null`,
        [JO],
      ),
    ).toEqual([{ count: 0 }]);
    await inDialog('Take out', 'Take out Jo Lind of Sales');
    await inDialog('Remove', 'Remove Jo Lind');
    await jo.waitFor({ state: 'detached' });
    expect(
      await test.rows(
        `select m.role, m.status from members m join users u using (user_id) where u.email = $1`,
        [JO],
      ),
    ).toEqual([{ role: 'operator', status: 'removed' }]);
    await inDialog('Archive', 'Archive Sales');
    await page.getByText('No team yet').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    expect(desk.complaints).toEqual([]);
  });
});

describe.runIf(hasBrowser)('people without a mail server', { timeout: 60_000 }, () => {
  it('says where the mail lies, since only the mail holds the link', async () => {
    const desk = await DashboardDesk.open();
    const { page, test } = desk;
    await desk.begin();
    await desk.signIn('/people');
    await page.getByText('Mails are written to files').waitFor();
    await page.getByLabel('Mail address of the colleague').fill(JO);
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    const shown = page.getByRole('status').getByText('DATA_DIR/outbox/');
    const begin = /inv_\w{26}n/.exec((await shown.textContent())!)![0];
    const files = await eventually(
      () => readdir(join(test.dataDir, 'outbox')).catch(() => []),
      (names) => names.some((name) => name.endsWith('.eml')),
    );
    expect(files).toEqual([`${begin}1.eml`]);
    expect(await desk.findingsEverywhere()).toEqual([]);
    expect(desk.complaints).toEqual([]);
    await desk.close();
  });
});
