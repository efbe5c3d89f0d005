import type { ServerResponse } from 'node:http';
import PostalMime from 'postal-mime';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type MailServer, startMailServer } from '../../e2e/mail/mail-server.js';
import { Client } from '../../support/client.js';
import { type EventReceiver, startEventReceiver } from '../../support/event-receiver.js';
import { eventually, type TestApp } from '../../support/test-app.js';
import { DashboardDesk, DESK, hasBrowser, PASSWORD, PHONE } from './dashboard-desk.js';

const COLLEAGUES = [
  { email: 'jo@northwind.example', name: 'Jo Lind' },
  { email: 'kim@northwind.example', name: 'Kim Berg' },
];

/** Must-show 1 of the dashboard's second part, without orders and the report: by somebody who has read nothing. */
describe.runIf(hasBrowser)('an operations lead with people and connections', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;
  let mail: MailServer;
  let receiver: EventReceiver;
  /** What the receiver answers; 0: nothing. */
  let answer = (_count: number) => 500;
  const silent: ServerResponse[] = [];
  let agent: Client;

  beforeAll(async () => {
    mail = await startMailServer();
    receiver = await startEventReceiver((_received, response, count) => {
      const status = answer(count);
      if (status === 0) silent.push(response);
      else response.writeHead(status).end();
    });
    desk = await DashboardDesk.open(
      { SMTP_URL: mail.url, OUTBOUND_ALLOW: receiver.hostPort },
      { permissions: ['clipboard-read', 'clipboard-write'] },
    );
    ({ test, page } = desk);
    const made = await test.owner.post('/tokens', {
      name: 'cleaner',
      agent: { name: 'CRM cleaner' },
      tools: ['crm.*'],
    });
    agent = new Client(test.url, made.body.token);
    await desk.begin();
    await desk.signIn('/setup');
  });
  beforeEach(() => desk.begin());
  afterAll(async () => {
    await desk?.close();
    await mail.close();
    await receiver.close();
  });

  /** What the page says of what has just been done. */
  const told = (sentence: string | RegExp) =>
    page.getByRole('banner').getByRole('status').filter({ hasText: sentence }).waitFor();
  const confirm = async (verb: string) => {
    await page.getByRole('dialog').getByRole('button', { name: verb, exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  const dialog = () => page.getByRole('dialog');
  const again = () => page.getByRole('button', { name: /^Send again: a test/ });
  const lostLink = () => page.getByRole('banner').getByRole('link', { name: /lost$/ });
  const deliveries = () =>
    test.rows<{ status: string; answers: number[] }>(
      `select status, (select array_agg((a->>'status')::int order by (a->>'n')::int) from jsonb_array_elements(attempts) a) as answers
       from webhook_deliveries order by created_at`,
    );

  it('invites two colleagues into a team, and reads which roles they get before it is sent', async () => {
    await page.getByRole('link', { name: 'People' }).click();
    await page.getByLabel('Name of the new team').fill('Shipping');
    await page.getByRole('button', { name: 'Make the team' }).click();
    await told('The team Shipping is made.');
    await page.getByRole('combobox', { name: 'Team', exact: true }).selectOption('Shipping');
    await page.getByText('Role in the workspace: viewer').waitFor();
    const invites = page.getByRole('region', { name: 'Invites' });
    for (const { email } of COLLEAGUES) {
      await page.getByLabel('Mail address of the colleague').fill(email);
      await page.getByLabel('Role in the team').selectOption('operator');
      expect(await desk.findingsEverywhere()).toEqual([]);
      await page.getByRole('button', { name: 'Invite', exact: true }).click();
      await told(`${email} is invited as operator of the team Shipping and viewer of the workspace.`);
      const invite = invites.getByRole('listitem').filter({ hasText: email });
      await invite.getByText('operator of the team Shipping').waitFor();
      await invite.getByText('viewer of the workspace').waitFor();
    }
    const mails = await eventually(
      () => Promise.resolve(mail.received),
      (received) => received.length === 2,
    );
    for (const { bytes } of mails) {
      const { text, to } = await PostalMime.parse(bytes);
      expect(text).toContain('Your role in the team: operator.');
      expect(text).toContain('Your role in the workspace: viewer, unless you are a member already.');
      const token = /\/invites\/([\w-]{43})/.exec(text!)![1]!;
      const linked = await fetch(`${test.url}/invites/${token}`);
      expect(await linked.text()).toContain('Your role in the workspace: viewer');
      const { name: displayName } = COLLEAGUES.find(({ email }) => email === to![0]!.address)!;
      const accepted = await test.owner.post('/invites/accept', { token, displayName, password: PASSWORD });
      expect(accepted.status, accepted.text).toBe(201);
    }
    const joined = page.getByRole('region', { name: 'Members' }).getByRole('listitem');
    for (const { name } of COLLEAGUES) {
      const member = joined.filter({ hasText: name });
      await member.getByText('viewer of the workspace').waitFor();
      await member.getByText('operator of the team Shipping').waitFor();
    }
    expect(
      await test.rows(
        `select u.display_name, m.role, t.role as in_team from members m join users u using (user_id)
         join team_members t using (member_id) order by 1`,
      ),
    ).toEqual(COLLEAGUES.map(({ name }) => ({ display_name: name, role: 'viewer', in_team: 'operator' })));
    expect(desk.complaints).toEqual([]);
  });

  it.each([PHONE, DESK])('has the secret of a webhook before them once it is made, at %o', async (size) => {
    await page.setViewportSize(size);
    await page.goto(`${test.url}/connections`);
    await page.getByLabel('What it is for').fill(`Warehouse ${size.width}`);
    await page.getByLabel('Address', { exact: false }).first().fill(receiver.url);
    // Nothing is ticked for them.
    expect(
      await page.getByRole('group', { name: 'Tells when' }).getByRole('checkbox', { checked: true }).count(),
    ).toBe(0);
    await page.getByLabel('the Daily Report was made').check();
    await page.getByRole('button', { name: 'Make the webhook' }).click();
    await told(`The webhook Warehouse ${size.width} is made.`);
    const secret = page.getByRole('region', { name: 'Secret', exact: true });
    await eventually(
      () => page.evaluate('document.activeElement.textContent'),
      (focused) => focused === `Secret of Warehouse ${size.width}`,
    );
    for (const part of [secret.getByText(/^whsec_/), secret.getByRole('button', { name: 'Copy' })]) {
      const { y, height } = (await part.boundingBox())!;
      expect(y).toBeGreaterThan((await page.getByRole('banner').boundingBox())!.height);
      expect(y + height).toBeLessThan(size.height);
    }
    await secret.getByText('shown only now').waitFor();
    await secret.getByRole('button', { name: 'Copy' }).click();
    await secret.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      await secret.getByText(/^whsec_/).textContent(),
    );
    expect(await desk.findingsEverywhere()).toEqual([]);
    await secret.getByRole('button', { name: 'I have saved it' }).click();
    expect(await page.locator('body').textContent()).not.toContain('whsec_');
    expect(desk.complaints).toEqual([]);
  });

  it('sends a lost delivery again, and reads what became of it: failed once more, then delivered', async () => {
    await page.getByRole('button', { name: `Delete Warehouse ${PHONE.width}` }).click();
    await confirm('Delete');
    await told(`The webhook Warehouse ${PHONE.width} is deleted.`);
    await page.getByRole('button', { name: `Send a test to Warehouse ${DESK.width}` }).click();
    await confirm('Send a test');
    await told('A test is on its way');
    await page.getByText('failed, and tried again by itself').waitFor();
    await page.getByText(/^1 delivery has failed and is tried again by itself/).waitFor();
    await page.getByRole('button', { name: 'Choose all that were lost' }).click();
    await page.getByText('None is lost: what failed is tried again by itself').waitFor();
    // Its five attempts take twelve minutes.
    await test.rows(`with gone as (delete from work_items where kind = 'webhook.deliver')
      update webhook_deliveries set status = 'dead'`);
    // It is told on every page; the link leads to the lost one, which is shown with what to press.
    await page.goto(`${test.url}/overview`);
    expect(await lostLink().textContent()).toBe('1 delivery was lost');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await lostLink().click();
    await page.getByText('1 delivery was lost: the receiver took it at no attempt.').waitFor();
    await page.getByText('lost: fix the receiver, then send it again').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await again().click();
    await dialog().getByRole('button', { name: 'Send again' }).click();
    await dialog().getByText('0 of 1 delivered, 1 failed again.').waitFor();
    await dialog().getByText('failed again: the receiver answered 500').waitFor();
    // It is tried again by itself, after ten seconds at the most, and the dialog goes on saying how it stands.
    answer = () => 204;
    await dialog().getByText('delivered: the receiver answered 204').waitFor({ timeout: 20_000 });
    await dialog().getByText('1 of 1 delivered.').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await dialog().getByRole('button', { name: 'Close' }).click();
    await page.getByText('None is lost: what was sent again stands under All.').waitFor();
    await lostLink().waitFor({ state: 'detached' });
    await page.getByLabel(`Show deliveries to Warehouse ${DESK.width}`).selectOption('All');
    await page.getByText('given up, and sent again since').waitFor();
    await page.getByText('Sent again: the one before').click();
    await page.getByText('answered 500').first().waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    expect(await again().count()).toBe(0);
    const [lost, resent] = await deliveries();
    expect(lost).toMatchObject({ status: 'dead' });
    expect(resent).toMatchObject({ status: 'delivered' });
    expect(resent!.answers.at(-1)).toBe(204);
    const [first, last] = [receiver.received[0]!, receiver.received.at(-1)!];
    expect(last.eventId).toBe(first.eventId);
    expect(last.body.toString()).toBe(first.body.toString());
    expect(JSON.parse(last.body.toString())).toMatchObject({ event: 'webhook.test' });
    expect(desk.complaints).toEqual([]);
  });

  it('sends many again, and reads what became of each', async () => {
    const eventId = (await test.rows('select event_id from webhook_deliveries'))[0]!['event_id'];
    await page.getByRole('button', { name: `Send a test to Warehouse ${DESK.width}` }).click();
    await confirm('Send a test');
    await eventually(deliveries, (all) => all.filter(({ status }) => status === 'delivered').length === 2);
    await test.rows(`update webhook_deliveries set status = 'dead'`);
    expect(await test.rows('select 1 from webhook_deliveries where event_id = $1', [eventId])).toHaveLength(
      2,
    );
    await page.goto(`${test.url}/connections`);
    await page.getByRole('button', { name: `Show what was lost to Warehouse ${DESK.width}` }).click();
    await page.getByRole('button', { name: 'Choose all that were lost' }).click();
    await page.getByText('2 chosen.').waitFor();
    const before = receiver.received.length;
    answer = (count) => ((count - before) % 2 === 1 ? 503 : 200);
    await page.getByRole('button', { name: 'Send 2 again' }).click();
    await dialog().getByRole('button', { name: 'Send 2 again' }).click();
    await dialog().getByText('1 of 2 delivered, 1 failed again.').waitFor();
    await dialog().getByText('failed again: the receiver answered 503').waitFor();
    await dialog().getByText('delivered: the receiver answered 200').waitFor();
    await dialog().getByRole('button', { name: 'Close' }).click();
    await page.getByText('2 chosen.').waitFor({ state: 'detached' });
    const [one, other] = receiver.received.slice(before);
    expect(one!.eventId < other!.eventId, 'in the order of the events').toBe(true);
    expect((await deliveries()).slice(3)).toEqual(
      expect.arrayContaining([
        { status: 'delivered', answers: [200] },
        { status: 'failed', answers: expect.arrayContaining([503]) },
      ]),
    );
    expect(desk.complaints).toEqual([]);
  });

  it('reads what a delivery is about, such as which mail', async () => {
    const [{ event_id: eventId }] = (await test.rows(
      'select event_id from webhook_deliveries order by created_at desc limit 1',
    )) as [{ event_id: string }];
    const [kept] = await test.rows('select event, body from webhook_events where event_id = $1', [eventId]);
    const title = 'Mail to jane@acme.example: Your order 4714 has shipped';
    const body = JSON.stringify({ event: 'approval.decided', payload: { title } });
    const rename = (event: unknown, to: unknown) =>
      test.rows(
        `with e as (update webhook_events set event = $2, body = $3 where event_id = $1)
         update webhook_deliveries set event = $2 where event_id = $1`,
        [eventId, event, to],
      );
    await rename('approval.decided', body);
    await page.reload();
    await page.getByText(`Deliveries to Warehouse ${DESK.width}`).click();
    await page.getByText(title, { exact: true }).first().waitFor();
    await page
      .getByRole('checkbox', { name: `Choose a person has decided: ${title}` })
      .first()
      .waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await rename(kept!['event'], kept!['body']);
  });

  it('reads that one is under way while the receiver is silent, and the page does not ask for ever', async () => {
    // No other attempt is in flight: the next one follows the second after ten seconds.
    await eventually(deliveries, (all) =>
      all.every(({ status, answers }) => status !== 'failed' || answers.length > 1),
    );
    await test.rows(`with gone as (delete from work_items where kind = 'webhook.deliver')
      update webhook_deliveries set status = 'dead' where status = 'failed'`);
    await page.clock.install();
    await page.reload();
    await page.getByText(`Deliveries to Warehouse ${DESK.width}`).click();
    answer = () => 0;
    let readings = 0;
    page.on('request', (request) => {
      if (/\/deliveries\?limit=100/.test(request.url())) readings++;
    });
    await again().first().click();
    await dialog().getByRole('button', { name: 'Send again' }).click();
    await dialog().getByText('0 of 1 delivered, 1 still under way.').waitFor();
    for (let second = 0; second < 40; second++) {
      await page.clock.runFor(1_000);
      await page.evaluate('fetch("/assets/icon.svg")');
    }
    expect(readings).toBeGreaterThan(1);
    expect(readings).toBeLessThan(25);
    await dialog().getByText('0 of 1 delivered, 1 still under way.').waitFor();
    await dialog().getByRole('button', { name: 'Close' }).click();
    expect(desk.complaints).toEqual([]);
  });

  it('reads that a receiver wants nothing more, and what to do', async () => {
    answer = () => 410;
    for (const response of silent.splice(0)) response.writeHead(410).end();
    await page.getByText('ended: the receiver answered 410 (gone). Give it another address').waitFor();
    expect((await deliveries()).at(-1)).toEqual({ status: 'dead', answers: [410] });
    await again().first().click();
    await dialog().getByRole('button', { name: 'Send again' }).click();
    await dialog().getByText('0 of 1 delivered, 1 not sent.').waitFor();
    await dialog().getByRole('button', { name: 'Close' }).click();
    // The browser itself tells that the service refused it.
    expect(desk.complaints.filter((one) => !one.includes('409'))).toEqual([]);
  });

  it('gives a webhook another name, address and events, after which it receives again', async () => {
    const before = (await test.rows('select * from webhook_destinations where deleted_at is null'))[0]!;
    expect(before).toMatchObject({ status: 'gone', events: ['report.daily'] });
    answer = () => 204;
    await page.getByRole('button', { name: `Change Warehouse ${DESK.width}` }).click();
    expect(await dialog().getByLabel('Address', { exact: false }).inputValue()).toBe(receiver.url);
    await dialog().getByLabel('What it is for').fill('Warehouse Kiel');
    await dialog().getByLabel('Address', { exact: false }).fill('not an address');
    await dialog().getByRole('button', { name: 'Change' }).click();
    await dialog().getByLabel('Address', { exact: false }).fill('https://127.0.0.1/hooks');
    await dialog().getByRole('button', { name: 'Change' }).click();
    await dialog().getByRole('alert').waitFor();
    expect((await test.rows('select * from webhook_destinations where deleted_at is null'))[0]).toEqual(
      before,
    );
    await dialog().getByLabel('Address', { exact: false }).fill(`${receiver.url}/kiel`);
    await dialog().getByLabel('work was carried out').check();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await confirm('Change');
    await told(
      /^Warehouse Kiel is saved: it goes to .*\/kiel, and tells when work was carried out by the capos, or failed, the Daily/,
    );
    expect((await test.rows('select * from webhook_destinations where deleted_at is null'))[0]).toEqual({
      ...before,
      description: 'Warehouse Kiel',
      url: `${receiver.url}/kiel`,
      events: ['directive.executed', 'report.daily'],
      status: 'active',
      consecutive_failures: 0,
    });
    await page.getByRole('button', { name: 'Send a test to Warehouse Kiel' }).click();
    await confirm('Send a test');
    await eventually(deliveries, (all) => all.at(-1)!.status === 'delivered');
    // The browser itself tells that the address was refused.
    expect(desk.complaints.filter((one) => !one.includes('422'))).toEqual([]);
  });

  it('pauses an agent, and is told so', async () => {
    expect((await agent.get('/action-requests')).status).toBe(200);
    await page.goto(`${test.url}/agents`);
    await page.getByRole('button', { name: 'Pause CRM cleaner' }).click();
    await confirm('Pause');
    await told('CRM cleaner is paused.');
    await eventually(
      async () => (await agent.get('/action-requests')).status,
      (status) => status === 403,
    );
    expect(await test.rows(`select paused_at is null as runs from tokens where name = 'cleaner'`)).toEqual([
      { runs: false },
    ]);
    expect(desk.complaints).toEqual([]);
  });

  it('ends the session of a colleague, and reads whose it is before', async () => {
    const jo = await desk.otherBrowser();
    await desk.signIn('/', COLLEAGUES[0]!.email, jo);
    await page.getByRole('link', { name: 'Mira' }).click();
    const own = page.getByRole('region', { name: 'Sessions' });
    await own.getByText('this browser').waitFor();
    expect(await own.getByText('Jo Lind').count()).toBe(0);
    expect(await own.getByRole('listitem').count()).toBe(1);
    await own.getByRole('link', { name: 'sessions of colleagues' }).click();
    const others = page.getByRole('region', { name: 'Sessions' });
    const theirs = others.getByRole('listitem');
    await theirs.filter({ hasText: 'Jo Lind' }).getByText('Chrome on Linux').waitFor();
    expect(await theirs.count()).toBe(1);
    await page.getByRole('button', { name: /^End the session of Jo Lind in Chrome on Linux/ }).click();
    await page.getByRole('dialog').getByText('Jo Lind is signed out there').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await confirm('End');
    await told('The session of Jo Lind in Chrome on Linux is ended.');
    await others.getByText('Nobody else is signed in.').waitFor();
    expect(
      await test.rows(
        `select u.display_name, s.ended_at is not null as ended from sessions s join users u using (user_id) order by 1`,
      ),
    ).toEqual([
      { display_name: 'Jo Lind', ended: true },
      { display_name: 'Mira', ended: false },
    ]);
    await jo.getByRole('link', { name: 'Sent and done' }).click();
    await jo.getByRole('heading', { name: 'Signed out' }).waitFor();
    expect(desk.complaints).toEqual([]);
  });
});
