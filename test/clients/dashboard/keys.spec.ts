import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OrderDesk } from '../../e2e/standing-orders/order-desk.js';
import { Client } from '../../support/client.js';
import { eventually, type TestApp } from '../../support/test-app.js';
import { DashboardDesk, hasBrowser, PHONE } from './dashboard-desk.js';

describe.runIf(hasBrowser)(
  'where facts come from, the palette, snooze, presence and the kill switch',
  { timeout: 60_000 },
  () => {
    let desk: DashboardDesk;
    let test: TestApp;
    let page: Page;

    beforeAll(async () => {
      desk = await DashboardDesk.open();
      ({ test, page } = desk);
      await desk.begin();
      await desk.signIn();
    });
    afterAll(() => desk?.close());
    beforeEach(() => desk.begin());

    const approve = (id: string) => test.owner.post(`/approvals/${id}/approve`);
    const find = () => page.getByRole('combobox', { name: 'Page, command or id' });

    it('marks each recipient, link and amount by where it comes from', async () => {
      const id = await desk.handIn(
        'Email jane@acme.example, subject "Rent": "Pay 40 EUR at acme.example/pay."',
      );
      await page.goto(`${test.url}/approvals/${id}`);
      const text = page.getByRole('textbox', { name: 'Text' });
      await page.getByText('jane@acme.example in the directive of Mira').waitFor();
      expect(await text.getAttribute('aria-describedby')).toMatch(/body-sources$/);
      await text.fill('Pay 4,000 EUR at acme.example/pay.');
      await page.getByText('what is new in it comes from you').waitFor();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('4,000 EUR written by Mira').waitFor();
      expect(await desk.findingsEverywhere()).toEqual([]);
      await approve(id);

      const agent = { name: 'refund-bot' };
      const { body: token } = await test.owner.post('/tokens', { name: 'Refunds', agent, tools: ['pay.*'] });
      const bot = new Client(test.url, token.token);
      const params = { to: 'karl@acme.example', amount: 90 };
      const { body } = await bot.post('/action-requests', { tool: 'pay.refund', params });
      await page.goto(`${test.url}/approvals/${body.approvalId}`);
      await page.getByText('karl@acme.example unverified: only its author says so').waitFor();
      expect(await desk.findingsEverywhere()).toEqual([]);
      await approve(body.approvalId);
      expect(desk.complaints).toEqual([]);
    });

    it('finds a page, a command and a thing by its id, by keys alone', async () => {
      const id = await desk.handIn('Email ann@acme.example, subject "Tea": "At four."');
      const { directiveId, packets } = (await test.owner.get(`/approvals/${id}`)).body;
      await page.goto(test.url);
      await page.getByRole('link', { name: /ann/ }).waitFor();
      await page.keyboard.press('Control+k');
      await find().fill('sent an');
      expect(await desk.findingsEverywhere()).toEqual([]);
      await page.keyboard.press('Enter');
      await page.waitForURL('**/sent');
      await page.keyboard.press('Meta+k');
      await find().fill(packets[0].workPacketId);
      await page.getByRole('option', { name: `Open ${packets[0].workPacketId}` }).waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/directives/${directiveId}`);
      await page.keyboard.press('Control+k');
      await find().fill('pkt_01khqw6sb0xg7v9zhwnqcrxds8');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').getByText('req_').waitFor();
      expect(await desk.findingsEverywhere()).toEqual([]);
      desk.complaints.splice(0);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.keyboard.press('Control+k');
      await find().fill('stop every');
      await page.keyboard.press('Enter');
      await page.getByLabel('Type HALT').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await approve(id);
      expect(desk.complaints).toEqual([]);
    });

    it('works by Ctrl-K where single keys are turned off', async () => {
      await page.goto(test.url);
      await page.getByRole('button', { name: 'Keys' }).click();
      await page.getByLabel('Use single keys').uncheck();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.keyboard.press('?');
      await page.keyboard.press('Control+k');
      await find().waitFor();
      expect(await page.getByRole('dialog').count()).toBe(1);
      await page.getByRole('button', { name: 'Close' }).click();
      await page.evaluate('localStorage.clear()');
    });

    it('snoozes in this browser; what changes or becomes urgent comes back', async () => {
      const id = await desk.handIn('Email kim@acme.example, subject "Desk": "It moves on Friday."');
      const other = await desk.handIn('Email lee@acme.example, subject "Door": "It opens on Friday."');
      await page.goto(`${test.url}/approvals/${id}`);
      await page.getByText('Snooze', { exact: true }).waitFor();
      await page.keyboard.press('s');
      await page.keyboard.press('Enter');
      expect(await desk.findingsEverywhere()).toEqual([]);
      await page.getByRole('button', { name: 'Until tomorrow' }).click();
      await page.waitForURL(`**/approvals/${other}`);
      await page.getByText('Snoozed 1').click();
      await page.getByRole('link', { name: /kim.*back at/ }).click();
      await page.getByText('Snoozed until').waitFor();
      expect(await desk.findingsEverywhere()).toEqual([]);
      await page.reload();
      await page.getByText('Snoozed 1').waitFor();
      await test.rows(
        `update approvals set expires_at = now() + interval '90 minutes' where approval_id = $1`,
        [id],
      );
      await page.reload();
      await page.getByRole('link', { name: /kim.*urgent/ }).waitFor();
      expect(await page.getByText('Snoozed 1').count()).toBe(0);
      await approve(id);
      await approve(other);
      expect(desk.complaints).toEqual([]);
    });

    it('shows whether somebody is there, and has an admin say so', async () => {
      await page.goto(`${test.url}/sent`);
      const presence = page.getByRole('group', { name: 'Presence' });
      await presence.getByRole('button', { name: 'away' }).click();
      await presence.getByRole('button', { name: 'away', pressed: true }).waitFor();
      expect((await test.owner.get('/settings')).body.presence).toBe('away');
      await test.owner.put('/settings', { presence: 'present' });
      await presence.getByRole('button', { name: 'present', pressed: true }).waitFor();
      expect(await desk.findingsEverywhere()).toEqual([]);
      expect(desk.complaints).toEqual([]);
    });

    it('says who may approve, and why the person who asked may not', async () => {
      const orders = new OrderDesk(test);
      const other = await test.createMember(test.workspaceId, 'admin');
      await orders.active({
        name: 'Four eyes',
        effect: 'require_approval',
        match: { actionTypes: ['email.send'] },
        approval: { selfApproval: false },
      });
      const id = await desk.handIn('Email finn@acme.example, subject "Two": "Us."');
      await test.rows(
        `update approvals set requester_ids = array(select member_id from members where role = 'owner')
      where approval_id = $1`,
        [id],
      );
      await page.goto(`${test.url}/approvals/${id}`);
      await page.getByText(/requires approval by someone other than the member who asked/).waitFor();
      await page.getByText(/^May approve: /).waitFor();
      expect(await page.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0);
      expect(await desk.findingsEverywhere()).toEqual([]);
      await other.post(`/approvals/${id}/reject`, { feedback: 'No.' });
      expect(desk.complaints).toEqual([]);
    });

    it('keeps what a list is narrowed to, and its page, in the address', async () => {
      await test.rows(
        `insert into directives select copy.* from (select d from directives d limit 1) one, generate_series(1, 60) n,
           jsonb_populate_record(one.d, jsonb_build_object('directive_id', 'dir_' || lpad(n::text, 26, '0'),
             'approval_id', null, 'status', 'failed')) copy`,
      );
      await page.goto(`${test.url}/directives`);
      await page.getByLabel('Show').selectOption('failed');
      await page.waitForURL('**/directives?status=failed');
      await page.getByRole('link', { name: 'Older ones' }).click();
      await page.waitForURL('**/directives?status=failed&page=2');
      await page.reload();
      await page.getByText('51 to 60 of 60').waitFor();
      expect(await page.getByRole('main').getByRole('listitem').count()).toBe(10);
      expect(await desk.findingsEverywhere()).toEqual([]);
      await page.goBack();
      await page.getByText('1 to 50 of 60').waitFor();
      await test.rows(`delete from directives where directive_id like 'dir_000%'`);
      expect(desk.complaints).toEqual([]);
    });

    it('keeps the order of the inbox and how much of it is read in the address', async () => {
      const id = await desk.handIn('Email zoe@acme.example, subject "Tea": "At four."');
      const { directiveId } = (await test.owner.get(`/approvals/${id}`)).body;
      const copies = (table: string, key: string, value: string, changes: string) =>
        test.rows(
          `insert into ${table} select copy.* from (select t from ${table} t where ${key} = $1) one, generate_series(1, 230) n,
             jsonb_populate_record(one.t, jsonb_build_object('directive_id', 'dir_' || lpad(n::text, 26, '0'), ${changes})) copy`,
          [value],
        );
      await copies('directives', 'directive_id', directiveId, `'approval_id', null`);
      const changes = `'approval_id', 'apr_' || lpad(n::text, 26, '0'), 'title', 'Copy ' || n, 'requested_at', now() - n * interval '1 minute'`;
      await copies('approvals', 'approval_id', id, changes);
      await page.goto(test.url);
      await page.getByRole('button', { name: /^Show 100 more/ }).click();
      await page.waitForURL('**/?page=2');
      const rows = () => page.getByRole('region', { name: 'Inbox' }).getByRole('listitem').count();
      await eventually(rows, (count) => count === 200);
      await page.getByLabel('Order', { exact: true }).selectOption('Newest first');
      await page.waitForURL('**/?page=2&sort=newest');
      await page.reload();
      await eventually(rows, (count) => count === 200);
      expect(await page.getByLabel('Order', { exact: true }).inputValue()).toBe('newest');
      expect(await desk.findingsEverywhere()).toEqual([]);
      await page.getByRole('link', { name: /^Copy 230/ }).click();
      await page.waitForURL(/approvals\/apr_0+230\?page=2&sort=newest$/);
      await page.keyboard.press('Escape');
      await page.waitForURL('**/?page=2&sort=newest');
      await test.rows(`delete from approvals where approval_id like 'apr_000%'`);
      await test.rows(`delete from directives where directive_id like 'dir_000%'`);
      await test.owner.post(`/approvals/${id}/reject`, { feedback: 'Seen.' });
      expect(desk.complaints).toEqual([]);
    });

    it('is dark or light as a person wants it, whatever the system says', async () => {
      const paper = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
      await page.goto(`${test.url}/account`);
      const light = await paper();
      await page.getByLabel('Colours in this browser').selectOption('dark');
      expect(await paper()).not.toBe(light);
      await page.reload();
      await page.getByLabel('Colours in this browser').waitFor();
      expect(await paper()).not.toBe(light);
      expect(await desk.findings()).toEqual([]);
      await page.getByLabel('Colours in this browser').selectOption('system');
      expect(await paper()).toBe(light);
      expect(desk.complaints).toEqual([]);
    });

    it('shows that the connection is lost, and that it is back', async () => {
      let reads = 0;
      await page.route('**/api/pro/feed/stream', (route) => {
        reads++;
        if (reads > 2) return route.continue();
        return reads === 2
          ? route.abort('connectionfailed')
          : route.fulfill({ contentType: 'text/event-stream', body: 'id: 1\n\n' });
      });
      await page.goto(`${test.url}/sent`);
      await page.getByText('Reconnecting').waitFor();
      expect(await desk.findingsEverywhere()).toEqual([]);
      await page.getByText('Live', { exact: true }).waitFor();
      expect(reads).toBe(3);
      await page.unroute('**/api/pro/feed/stream');
    });

    it('keeps the reason that was typed in a dialog through a reload', async () => {
      await page.goto(`${test.url}/sent`);
      await page.getByRole('button', { name: 'Stop everything' }).click();
      await page.getByRole('dialog').getByLabel('Why').fill('A drill');
      await page.reload();
      await page.getByRole('button', { name: 'Stop everything' }).click();
      expect(await page.getByRole('dialog').getByLabel('Why').inputValue()).toBe('A drill');
      await page.getByRole('button', { name: 'Back' }).click();
    });

    it('stops everything by a finger that holds the button for a second, and not by one that lets go', async () => {
      const modeNow = async () => (await test.owner.get('/guardian')).body.mode;
      await page.setViewportSize(PHONE);
      await page.goto(test.url);
      const stop = page.locator('.bar button.danger');
      const box = (await stop.boundingBox())!;
      const cdp = await page.context().newCDPSession(page);
      const finger = (type: 'touchStart' | 'touchEnd') =>
        cdp.send('Input.dispatchTouchEvent', {
          type,
          touchPoints: type === 'touchStart' ? [{ x: box.x + box.width / 2, y: box.y + box.height / 2 }] : [],
        });
      await finger('touchStart');
      await page.getByRole('button', { name: 'Keep holding' }).waitFor();
      await finger('touchEnd');
      await page.getByRole('button', { name: 'Stop everything' }).waitFor();
      expect(await modeNow()).not.toBe('killed');
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await finger('touchStart');
      await page.getByText('Everything is stopped: Mira').waitFor();
      await finger('touchEnd');
      expect(await eventually(modeNow, (mode) => mode === 'killed')).toBe('killed');
      expect(await desk.findingsEverywhere()).toEqual([]);
      expect(desk.complaints).toEqual([]);
    });
  },
);
