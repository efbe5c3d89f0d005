import type { Page } from 'playwright-core';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type MailServer, startMailServer } from '../../e2e/mail/mail-server.js';
import { leaveReport } from '../../e2e/reports/report-rows.js';
import { Client } from '../../support/client.js';
import { eventually, type TestApp, type TestMember } from '../../support/test-app.js';
import { DashboardDesk, hasBrowser } from './dashboard-desk.js';

/** What an operations lead who has read nothing sets up in the browser alone (issue 22). */
describe.runIf(hasBrowser)('an operations lead', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;
  let mail: MailServer;
  let refused: string | undefined;
  let ann: TestMember & { address: string };

  beforeAll(async () => {
    mail = await startMailServer({
      recipient: (address) => (address === refused ? { code: 550, text: 'No such mailbox' } : undefined),
    });
    desk = await DashboardDesk.open({ SMTP_URL: mail.url });
    ({ test, page } = desk);
    const member = await test.createMember(test.workspaceId, 'admin');
    const address = 'ann@northwind.example';
    await test.rows(
      `update users u set email = $2, display_name = 'Ann' from members m where m.user_id = u.user_id and m.member_id = $1`,
      [member.memberId, address],
    );
    ann = Object.assign(member, { address });
    await desk.begin();
    await desk.signIn('/orders');
  });
  beforeEach(() => desk.begin());
  afterAll(async () => {
    await desk?.close();
    await mail.close();
  });

  const told = (words: string | RegExp) => page.locator('.told').filter({ hasText: words }).waitFor();
  const owner = () => new Client(test.url, test.owner.token);
  const orders = () => test.rows('select * from standing_orders order by created_at');
  const json = async () => JSON.parse(await page.getByLabel('The same as JSON').inputValue());
  /** A mail that nothing but the lack of an order keeps from going by itself. */
  const handIn = async (subject: string, to = 'jane@acme.example') => {
    const directive = `Email ${to}, subject "${subject}": "It left today."`;
    const { directiveId } = (
      await owner().post('/directives', { directive, capo: 'capo_ops', requiresApproval: false })
    ).body;
    return (status: string) =>
      eventually(
        async () => (await owner().get(`/directives/${directiveId}`)).body,
        (body) => body.status === status,
      );
  };
  const step = async (verb: string, of: RegExp | string = new RegExp(`^${verb} `)) => {
    await page.getByRole('button', { name: of }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: verb, exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };

  it('names the subject and the capo of an order in the form, and a second condition leaves the first', async () => {
    await page.getByText('Write a standing order').click();
    await page.getByLabel('Name', { exact: true }).fill('Shipping confirmations');
    await page.getByLabel('Add to: What it is about').fill('email.send');
    await page.getByLabel('Add to: What it is about').press('Enter');
    await page.getByLabel('Only where the subject of the mail begins with').fill('Your order ');
    await page.getByLabel('And ends with').fill(' has shipped');
    await page.getByRole('checkbox', { name: 'Ops' }).check();
    await page.getByLabel('At most in an hour').fill('20');
    await page.getByLabel('Only for amounts up to').fill('500');
    await page.getByLabel('Only for amounts above').fill('10');
    expect(await json()).toEqual({
      name: 'Shipping confirmations',
      effect: 'allow',
      capos: ['capo_ops'],
      match: {
        actionTypes: ['email.send'],
        fields: {
          'params.subject': { $prefix: 'Your order ', $suffix: ' has shipped' },
          amount: { $lte: 500, $gt: 10 },
        },
      },
      limits: { maxPerHour: 20 },
    });
    await page.getByText('only where it begins with "Your order ", and ends with " has shipped"').waitFor();
    await page.getByRole('definition').filter({ hasText: 'only Ops' }).waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByLabel('Only for amounts up to').fill('');
    expect((await json()).match.fields.amount).toEqual({ $gt: 10 });
    await page.getByLabel('Only for amounts above').fill('');
    await page.getByRole('button', { name: 'Keep as a draft' }).click();
    await told('Kept as a draft: Shipping confirmations');
    expect(await orders()).toMatchObject([
      {
        status: 'draft',
        capos: ['capo_ops'],
        match: { fields: { 'params.subject': { $prefix: 'Your order ', $suffix: ' has shipped' } } },
      },
    ]);
  });

  it('says in one sentence why a simulation comes to nothing', async () => {
    const simulation = page.getByRole('region', { name: 'Simulation' });
    await simulation.getByText('Nothing that it could be about was decided yet.').waitFor();
    await (
      await handIn('Invoice 12')
    )('pending_approval');
    await page.reload();
    await simulation
      .getByText(
        'None of the 1 meets every condition: the nearest 1 differs only in the subject: “Invoice 12” does not begin with “Your order ”.',
      )
      .waitFor();
    await step('Archive');
    await told('Archived: Shipping confirmations');
    expect(await orders()).toMatchObject([{ status: 'archived' }]);
  });

  it('lets mails like one go by themselves: a draft as narrow as that mail, its simulation, and only then it decides', async () => {
    const first = await handIn('Your order 4711 has shipped');
    const { approvalId } = await first('pending_approval');
    await page.goto(`${test.url}/approvals/${approvalId}`);
    await page.getByRole('button', { name: 'Let mails like this go by themselves' }).waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page
      .getByText(/^As decided .*, and not again by an order made since: No standing order allows/)
      .waitFor();
    const approve = page.getByRole('button', { name: 'Approve', exact: true });
    await approve.click();
    const { directiveId } = await first('executed');
    // The page goes on to the next one; what was approved is offered where it says so.
    await page
      .locator('.told')
      .getByRole('button', { name: /^Let mails like “.*Your order 4711 has shipped.*” go by themselves$/ })
      .waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page
      .locator('.told')
      .getByRole('button', { name: /^Let mails like “/ })
      .click();
    await page.waitForURL(`**/orders?like=${approvalId}`);
    await page.locator('.told').getByRole('button').waitFor({ state: 'detached' });
    // And later, from the approval and from the directive.
    for (const path of [`approvals/${approvalId}`, `directives/${directiveId}`]) {
      await page.goto(`${test.url}/${path}`);
      await page.getByText(/^Approved by/).waitFor();
      expect(await desk.findingsEverywhere()).toEqual([]);
    }
    await page.getByRole('button', { name: 'Let mails like this go by themselves' }).click();
    await page.getByRole('heading', { name: 'Let mails like this go by themselves' }).waitFor();
    expect(await json()).toEqual({
      name: 'Mails like “Your order … has shipped”',
      effect: 'allow',
      capos: ['capo_ops'],
      match: {
        actionTypes: ['email.send'],
        fields: {
          target: { $domainIn: ['acme.example'] },
          'params.subject': { $prefix: 'Your order ', $suffix: ' has shipped' },
        },
      },
      limits: { maxPerHour: 1, maxRecipients: 1 },
    });
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByLabel('At most in an hour').fill('20');
    await page.getByRole('button', { name: 'Keep as a draft' }).click();
    await page
      .getByRole('region', { name: 'Simulation' })
      .getByText('to jane@acme.example')
      .first()
      .waitFor();
    expect((await orders()).at(-1)).toMatchObject({
      status: 'draft',
      limits: { maxPerHour: 20, maxRecipients: 1 },
    });
    await page.getByRole('button', { name: /^Activate / }).click();
    await page.getByRole('dialog').getByRole('checkbox').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click();
    await told('It decides now: Mails like “Your order … has shipped”');
    await (
      await handIn('Your order 4712 has shipped')
    )('executed');
    expect(mail.received.at(-1)!.bytes.toString()).toContain('Your order 4712 has shipped');
    await page.reload();
    const letGo = page.getByRole('region', { name: 'What it let go' });
    await letGo.getByText('1 of 20 in the last hour').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await letGo.getByRole('link', { name: '1 let through in the last 30 days' }).click();
    await page.getByText(/Only what one standing order let through without a person/).waitFor();
    await page.getByText('Your order 4712 has shipped').waitFor();
    expect(await page.getByText('Your order 4711 has shipped').count()).toBe(0);
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('link', { name: 'Your order 4712 has shipped' }).click();
    const letGoBy = page.getByRole('list', { name: 'Who let it go' });
    await letGoBy.getByRole('link', { name: 'Mails like “Your order … has shipped”' }).waitFor();
    expect(await page.getByText('**To:**').count()).toBe(0);
    await page.getByText('To: jane@acme.example').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await letGoBy.getByRole('link').click();
    // Another subject, and another domain, ask as before.
    await (
      await handIn('Your order 4713 is delayed')
    )('pending_approval');
    await (
      await handIn('Your order 4714 has shipped', 'eve@evil.example')
    )('pending_approval');
    await step('Pause');
    await told('Paused: Mails like “Your order … has shipped”');
    expect(desk.complaints).toEqual([]);
  });

  it('offers that to nobody who could not make such an order, and not for a document', async () => {
    const approval = (await owner().get('/approvals?limit=1')).body.items[0];
    await page.goto(`${test.url}/approvals/${approval.approvalId}`);
    await page.getByRole('button', { name: 'Let mails like this go by themselves' }).waitFor();
    await test.rows(`update members set role = 'operator' where member_id <> $1 and workspace_id = $2`, [
      ann.memberId,
      test.workspaceId,
    ]);
    await page.reload();
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor();
    expect(await page.getByRole('button', { name: /^Let mails like this/ }).count()).toBe(0);
    await test.rows(`update members set role = 'owner' where member_id <> $1 and workspace_id = $2`, [
      ann.memberId,
      test.workspaceId,
    ]);
    await page.goto(`${test.url}/approvals/${await desk.handIn('File a note "Memo": "All is well."')}`);
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor();
    expect(await page.getByRole('button', { name: /^Let mails like this/ }).count()).toBe(0);
  });

  it('sets the report to 07:00 for both by name, reads whom it did not reach, and sends it to that one again', async () => {
    await leaveReport(test.rows, test.workspaceId, '2026-01-05');
    for (const path of ['account', 'people']) {
      await page.goto(`${test.url}/${path}`);
      await page
        .getByText(/^You are not mailed the Daily Report\. Admins name its recipients under/)
        .waitFor();
      expect(await desk.findingsEverywhere()).toEqual([]);
    }
    await page.getByRole('link', { name: 'Make it under Teams' }).click();
    expect(new URL(page.url()).hash).toBe('#teams');
    await page.goto(`${test.url}/account`);
    await page.getByText('It is not set up. Once it is, a code of an authenticator is asked for').waitFor();
    await page.goto(`${test.url}/report`);
    await page.getByLabel('At', { exact: true }).fill('07:00');
    await page.getByRole('checkbox', { name: /^Ann/ }).check();
    await page.getByRole('checkbox', { name: /mira@acme.example/ }).check();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await told(/^Saved: each day at 07:00\. Recipients: (Ann and .|.* and Ann)/);
    const { delivery } = (await owner().get('/reports/config')).body;
    expect(delivery).toMatchObject({ time: '07:00', email: true, emailAddress: null });
    expect(delivery.memberIds).toHaveLength(2);
    expect(delivery.memberIds).toContain(ann.memberId);
    refused = ann.address;
    await step('Send again', 'Send again the report of 2026-01-05');
    const outcomes = page.getByRole('list', { name: 'Mails of the report of 2026-01-05' });
    await eventually(
      () => test.rows(`select status from report_mails order by status`),
      (rows) => rows.map(({ status }) => status).join() === 'failed,sent',
    );
    await page.reload();
    await outcomes.getByText(/^Ann: its mail failed.*No such mailbox/).waitFor();
    await outcomes.getByText(/: mailed /).waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    refused = undefined;
    const before = mail.received.length;
    await step('Send to those it did not reach', 'Send to those it did not reach the report of 2026-01-05');
    await told('Mailed again to those it did not reach');
    await eventually(
      () => test.rows(`select status from report_mails`),
      (rows) => rows.every(({ status }) => status === 'sent'),
    );
    expect(mail.received.slice(before).map(({ to }) => to)).toEqual([[ann.address]]);
    expect(desk.complaints).toEqual([]);
  });

  it('chooses somebody for the report who is invited and has not accepted, and reads that they are not mailed yet', async () => {
    const { teamId } = (await owner().post('/teams', { name: 'Warehouse' })).body;
    for (const email of ['anna@northwind.example', 'karl@northwind.example'])
      expect((await owner().post(`/teams/${teamId}/members`, { email, role: 'operator' })).status).toBe(201);
    await page.goto(`${test.url}/report`);
    await page.getByText('anna@northwind.example invited to Warehouse, mailed once they accept').click();
    await page.getByText('one only, such as that of a distribution list').waitFor();
    expect(await page.getByLabel(/^Zone/).inputValue()).toBe(
      await page.evaluate('Intl.DateTimeFormat().resolvedOptions().timeZone'),
    );
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByLabel('And to the address').fill('Karl@northwind.example');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await told(/anna@northwind.example once they accept,? and karl@northwind.example once they accept/);
    await page
      .getByText('anna@northwind.example and karl@northwind.example: mailed once they accept their invite.')
      .waitFor();
    const { delivery } = (await owner().get('/reports/config')).body;
    expect(delivery).toMatchObject({ emailAddress: null });
    expect(delivery.inviteIds).toHaveLength(2);
    const [invite] = await test.rows<{ invite_id: string }>(
      `select invite_id from invites where email = 'karl@northwind.example'`,
    );
    expect((await owner().delete(`/invites/${invite!.invite_id}`)).status).toBe(200);
    await page.reload();
    await page.getByText('anna@northwind.example: mailed once they accept their invite.').waitFor();
    expect(await page.getByRole('checkbox', { name: /^karl/ }).count()).toBe(0);
  });

  it('is told what was saved of schedules', async () => {
    await page.goto(`${test.url}/schedules`);
    await page.getByText('Make a schedule').click();
    await page.getByLabel('Name', { exact: true }).fill('Board memo');
    await page.getByLabel('What should be done each time').fill('File a note "Memo": "All is well."');
    await page.getByRole('button', { name: 'Make the schedule' }).click();
    await told(/^Made: Board memo, each Monday at 09:00/i);
    for (const [verb, words] of [
      ['Run now', 'Handed in once: Board memo'],
      ['Pause', 'Paused: Board memo'],
      ['Resume', 'Resumed: Board memo'],
      ['Delete', 'Deleted: Board memo'],
    ] as const) {
      await step(verb, `${verb} Board memo`);
      await told(words);
    }
    expect(await test.rows('select 1 from schedules')).toEqual([]);
  });

  it('chooses the team of what they hand in, and somebody of two teams has to', async () => {
    const teams = await Promise.all(
      ['Sales', 'Shipping'].map(
        async (name) => (await owner().post('/teams', { name })).body.teamId as string,
      ),
    );
    await page.goto(`${test.url}/directives`);
    const text = page.getByLabel('What should be done');
    await text.fill('Email jane@acme.example, subject "Hello": "A word."');
    await page.getByRole('combobox', { name: 'Team' }).selectOption('for the team Shipping');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Hand in' }).click();
    await page.waitForURL(/approvals/);
    const newest = async () =>
      (await test.rows('select team_id, created_by from directives order by created_at desc limit 1'))[0]![
        'team_id'
      ];
    expect(await newest()).toBe(teams[1]);
    const bob = await test.createMember(test.workspaceId, 'operator', teams);
    const email = 'bob@northwind.example';
    await test.rows(
      `update users u set email = $2, password_hash = (select password_hash from users where email = 'mira@acme.example')
       from members m where m.user_id = u.user_id and m.member_id = $1`,
      [bob.memberId, email],
    );
    const other = await desk.otherBrowser();
    await desk.signIn('/directives', email, other);
    await other.getByLabel('What should be done').fill('Email jane@acme.example, subject "Hi": "A word."');
    await other.getByRole('combobox', { name: 'Team' }).selectOption('for the team Shipping');
    await other.getByRole('button', { name: 'Hand in' }).click();
    await other.waitForURL(/approvals/);
    expect(await newest()).toBe(teams[1]);
    await other.close();
  });

  it('chooses somebody of one team for the report, reads what they get, and their mail leads them there', async () => {
    const { workspaceId } = test;
    const [team] = await test.rows<{ team_id: string }>(`select team_id from teams where name = 'Shipping'`);
    const cleo = await test.createMember(workspaceId, 'viewer', [team!.team_id]);
    const email = 'cleo@northwind.example';
    await test.rows(
      `update users u set email = $2, display_name = 'Cleo', password_hash = (select password_hash from users where email = 'mira@acme.example')
       from members m where m.user_id = u.user_id and m.member_id = $1`,
      [cleo.memberId, email],
    );
    await test.rows(`update workspaces set created_at = now() - interval '9 days' where workspace_id = $1`, [
      workspaceId,
    ]);
    const yesterday = new Date(test.clock.now() - 86_400_000).toISOString().slice(0, 10);
    await leaveReport(test.rows, workspaceId, yesterday);
    await page.goto(`${test.url}/report`);
    await page.getByText('mira@acme.example gets everything').waitFor();
    await page.getByText('Cleo cleo@northwind.example gets what team Shipping does').waitFor();
    await page.getByText('gets what teams Sales and Shipping do').waitFor();
    for (const box of await page.getByRole('group', { name: 'Mailed to' }).getByRole('checkbox').all())
      await box.uncheck();
    await page.getByRole('checkbox', { name: /^Cleo/ }).check();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await told('Recipients: Cleo');
    await page.getByText('It is mailed to Cleo.').waitFor();
    await step('Send again', `Send again the report of ${yesterday}`);
    const received = await eventually(
      async () => mail.received.filter(({ to }) => to[0] === email),
      ({ length }) => length > 0,
    );
    const { subject, text } = await PostalMime.parse(received.at(-1)!.bytes);
    expect(subject).toMatch(/^Daily Report of the team Shipping, /);
    const [url] = /http\S+overview[^\s>]+/.exec(text!)!;
    const other = await desk.otherBrowser();
    await desk.signIn(url.slice(test.url.length), email, other);
    await other.getByText('It counts what your teams did, as of now.').waitFor();
    await other.close();
    await test.rows('delete from team_members where member_id = $1', [cleo.memberId]);
    await page.reload();
    await page.getByText('Cleo cleo@northwind.example gets nothing while in no team').waitFor();
    await page.getByText('It is mailed to nobody. Cleo gets no mail:').waitFor();
    // Typed by hand, it is still that member.
    await page.getByRole('checkbox', { name: /^Cleo/ }).uncheck();
    await page.getByLabel('And to the address').fill(email);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await told(`Recipients: ${email}`);
    await page.getByText('of Cleo, who gets nothing while in no team').waitFor();
  });
});
