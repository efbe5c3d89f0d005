import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { TestApp } from '../../support/test-app.js';
import { Shell } from '../cli/terminal.js';
import { DashboardDesk, EMAIL, hasBrowser, PASSWORD } from './dashboard-desk.js';

const HIDE = (isHidden: boolean) =>
  `Object.defineProperties(document, { hidden: { value: ${isHidden}, configurable: true },
     visibilityState: { value: '${isHidden ? 'hidden' : 'visible'}', configurable: true } });
   document.dispatchEvent(new Event('visibilitychange', { bubbles: true })); true`;

describe.runIf(hasBrowser)('what happens elsewhere', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;

  beforeAll(async () => {
    desk = await DashboardDesk.open();
    ({ test, page } = desk);
    await desk.begin();
    await desk.signIn();
  });
  beforeEach(() => desk.begin());
  afterAll(() => desk?.close());

  /** The calls of the API that the tabs of this browser have begun, as they come. */
  function calls(of: Page): string[] {
    const made: string[] = [];
    of.context().on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      if (pathname.startsWith('/api/')) made.push(`${request.method()} ${pathname}${search}`);
    });
    return made;
  }
  const row = (of: Page, name: RegExp) => of.getByRole('link', { name });

  it('is shown in two browsers, whichever of them or the command line decides', async () => {
    const shell = await Shell.of(test, test.owner.token);
    const other = await desk.otherBrowser();
    await desk.signIn('/', EMAIL, other);
    const mails = ['ann', 'bob', 'cid'];
    const ids: string[] = [];
    for (const name of mails)
      ids.push(await desk.handIn(`Email ${name}@acme.example, subject "Tea": "At four."`));
    for (const each of [page, other]) for (const name of mails) await row(each, new RegExp(name)).waitFor();
    const took: Record<string, number> = {};
    const leaves = async (name: string, where: string, from: Page) => {
      const began = performance.now();
      await row(from, new RegExp(name)).waitFor({ state: 'detached' });
      took[where] = Math.round(performance.now() - began);
    };

    await page.goto(`${test.url}/approvals/${ids[0]}`);
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(ids[0]!));
    await leaves('ann', 'one browser to the other', other);

    const approved = await shell.run(['approvals', 'approve', ids[1]!, '--yes']);
    expect(approved.code, approved.stderr).toBe(0);
    await Promise.all([leaves('bob', 'the command line to one', page), leaves('bob', 'to the other', other)]);

    await other.getByRole('link', { name: /cid/ }).click();
    await other.getByLabel('What should be different').fill('Too late.');
    await other.getByRole('button', { name: 'Reject' }).click();
    await leaves('cid', 'the other browser to one', page);
    console.info('milliseconds until a decision is shown, from', took);
    await other.context().close();
  });

  it('tells a second decision by whom the first one was', async () => {
    const id = await desk.handIn('Email dan@acme.example, subject "Tea": "At four."');
    const admin = await test.createMember(test.workspaceId, 'admin');
    await page.goto(`${test.url}/approvals/${id}`);
    const approve = page.getByRole('button', { name: 'Approve', exact: true });
    await approve.waitFor();
    // The other decision is on its way when this one is sent.
    await page.route('**/approve', async (route) => {
      const { status } = await admin.post(`/approvals/${id}/reject`, { feedback: 'No.' });
      expect(status).toBe(200);
      await route.continue();
    });
    await approve.click();
    await page.getByText(/Rejected by admin/).waitFor();
    await page.unrouteAll();
    const { body } = await test.owner.get(`/approvals/${id}`);
    expect(body).toMatchObject({ status: 'rejected', feedback: 'No.' });
  });

  it('is usable with ten requests a minute', async () => {
    const ids = [
      await desk.handIn('Email gus@acme.example, subject "Tea": "At four."'),
      await desk.handIn('Email hal@acme.example, subject "Tea": "At four."'),
    ];
    const change = `update workspaces set tier = $2 where workspace_id = $1`;
    onTestFinished(async () => {
      test.clock.goOn();
      await test.rows(change, [test.workspaceId, 'enterprise']);
    });
    await test.rows(change, [test.workspaceId, 'free']);
    // Of the next minute a quarter is left, however long it takes to ask.
    test.clock.stop(Math.ceil(test.clock.now() / 60_000) * 60_000 + 45_000);
    const own = await desk.otherBrowser();
    const made = calls(own);
    await desk.signIn(`/approvals/${ids[0]}`, EMAIL, own);
    const approve = own.getByRole('button', { name: 'Approve', exact: true });
    await approve.waitFor();
    await own.getByText('Live', { exact: true }).waitFor();
    const first = made.splice(0);
    await approve.click();
    await own.waitForURL((url) => !url.pathname.endsWith(ids[0]!));
    await own.getByRole('heading', { name: /hal/ }).waitFor();
    await new Promise((settled) => setTimeout(settled, 3_000));
    console.info('calls of the first load', first, 'of a decision', made);
    // Who signs in is known only afterwards: these are of no workspace.
    const counted = [...first, ...made].filter((call) => !/admin\/(session|oidc)$/.test(call));
    expect(counted.length).toBeLessThanOrEqual(8);

    // The window is used up: it says for how long, asks nothing meanwhile, and goes on by itself.
    for (const name of ['Directives', 'Sent and done', 'Overview', 'Escalations']) {
      await own.getByRole('link', { name }).click();
      // A page that is left at once takes its request back.
      await own.waitForTimeout(500);
    }
    await own.getByText(/Too many requests: continues in\s+\d+ s/).waitFor();
    await new Promise((settled) => setTimeout(settled, 1_000));
    made.splice(0);
    await new Promise((settled) => setTimeout(settled, 4_000));
    expect(made).toEqual([]);
    expect(await desk.findingsEverywhere(own)).toEqual([]);
    expect(await own.getByRole('button', { name: 'Stop everything' }).count()).toBe(1);
    test.clock.advance(60_000);
    await own.getByText('Nothing went wrong.').waitFor({ timeout: 60_000 });
    await own.context().close();
  });

  it('goes on in another tab, which shows what happened in between', async () => {
    const own = await desk.otherBrowser();
    await desk.signIn('/', EMAIL, own);
    await own.getByText('Live', { exact: true }).waitFor();
    const [next, last] = [await own.context().newPage(), await own.context().newPage()];
    const asked: (string | undefined)[] = [];
    let goOn = () => {};
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    for (const tab of [next, last]) {
      await tab.route('**/api/pro/feed/stream', async (route) => {
        asked.push(route.request().headers()['last-event-id']);
        await gate;
        await route.continue();
      });
      await tab.goto(test.url);
      await tab.getByText('Live', { exact: true }).waitFor();
      await tab.getByRole('heading', { name: 'Inbox' }).waitFor();
    }
    await own.close();
    // Nobody reads the stream yet, and nobody says so.
    for (const tab of [next, last]) await tab.getByText('Reconnecting', { exact: true }).waitFor();
    await desk.handIn('Email ida@acme.example, subject "Tea": "At four."');
    goOn();
    for (const tab of [next, last]) {
      await row(tab, /ida/).waitFor();
      await tab.getByText('Live', { exact: true }).waitFor();
    }
    expect(asked).toEqual([expect.stringMatching(/^\d+$/)]);
    await next.context().close();
  });

  it('asks nothing while nothing happens, and once for what happens together', async () => {
    await desk.handIn('Email joe@acme.example, subject "Tea": "At four."');
    const own = await desk.otherBrowser();
    const part = () => Math.floor(Math.random() * 256);
    await own.context().setExtraHTTPHeaders({ 'X-Forwarded-For': `10.${part()}.${part()}.${part()}` });
    await own.clock.install();
    await desk.signIn('/', EMAIL, own);
    await own.getByText('Live', { exact: true }).waitFor();
    const overview = await own.context().newPage();
    await overview.clock.install();
    await overview.goto(`${test.url}/overview?view=boss`);
    await overview.getByText('Directives by status').waitFor();
    await overview.getByRole('region', { name: 'Inbox' }).getByRole('link', { name: /joe/ }).waitFor();
    // The stream is read by the first tab.
    await overview.waitForLoadState('networkidle');
    const made = calls(own);
    const asked = () => made.filter((call) => !call.includes('/stream'));
    for (const tab of [own, overview]) await tab.clock.runFor('03:00');
    await own.getByText('Live', { exact: true }).waitFor();
    expect(asked()).toEqual([]);

    await desk.handIn('Email jon@acme.example, subject "Tea": "At four."');
    for (const tab of [own, overview]) {
      await tab.clock.runFor('00:04');
      await row(tab, /jon/).waitFor();
      // What was told a moment later is read apart.
      await tab.waitForTimeout(1_000);
      await tab.clock.runFor('00:04');
    }
    const once = [
      'GET /api/pro/approvals?limit=1',
      'GET /api/pro/approvals?limit=100',
      'GET /api/pro/approvals?limit=5',
    ];
    expect([...new Set(asked())].toSorted()).toEqual(once);
    expect(asked().length).toBeLessThanOrEqual(2 * once.length);
    // The figures follow within a minute, and are then left alone.
    made.splice(0);
    const figures = ['kpi', 'metrics'].map((name) => overview.waitForResponse(`**/api/pro/${name}`));
    await overview.clock.runFor('00:59');
    await Promise.all(figures);
    await overview.waitForTimeout(500);
    for (const tab of [own, overview]) await tab.clock.runFor('03:00');
    expect(asked().toSorted()).toEqual(['GET /api/pro/kpi', 'GET /api/pro/metrics']);
    await own.context().close();
  });

  it('reads more and more rarely where a day has few requests, until somebody touches the page', async () => {
    const own = await desk.otherBrowser();
    await own.clock.install();
    await own.route('**/api/pro/bootstrap', async (route) => {
      const response = await route.fetch();
      const limits = { requestsPerMinute: 10, requestsPerDay: 100 };
      await route.fulfill({ response, json: { ...(await response.json()), limits } });
    });
    await desk.signIn('/', EMAIL, own);
    await own.getByText('Live', { exact: true }).waitFor();
    const made = calls(own);
    const lists = () => made.filter((call) => call.startsWith('GET /api/pro/approvals?')).length;
    for (let n = 1; n <= 8; n++) {
      await desk.handIn(`Email kim${n}@acme.example, subject "Tea": "At four."`);
      // The stream looks every half second.
      await own.waitForTimeout(800);
      await own.clock.runFor('00:04');
    }
    expect(await row(own, /kim8/).count()).toBe(0);
    expect(lists()).toBeGreaterThan(0);
    expect(lists()).toBeLessThanOrEqual(5);
    await own.keyboard.press('Shift');
    await row(own, /kim8/).waitFor();
    await own.context().close();
  });

  it('waits no longer for what was refused to the session before', async () => {
    const own = await desk.otherBrowser();
    await desk.signIn('/', EMAIL, own);
    await own.route('**/api/pro/directives?*', (route) =>
      route.fulfill({
        status: 429,
        headers: { 'Retry-After': '900' },
        json: { error: 'RATE_LIMITED', message: 'Too many requests.' },
      }),
    );
    await own.getByRole('link', { name: 'Directives' }).click();
    await own.getByText(/Too many requests: continues in\s+\d+ s/).waitFor();
    await own.unrouteAll();
    await own.getByRole('button', { name: 'Sign out' }).click();
    // The page stays: nothing is loaded anew.
    await own.getByLabel('Mail address').fill(EMAIL);
    await own.getByLabel('Password').fill(PASSWORD);
    await own.getByRole('button', { name: 'Sign in', exact: true }).click();
    await own.getByRole('link', { name: 'Sent and done' }).click();
    await row(own, /ann/).waitFor();
    expect(await own.getByText('Too many requests').count()).toBe(0);
    await own.context().close();
  });

  it('comes over one stream to three tabs, of which the hidden ones ask nothing', async () => {
    const made = calls(page);
    await page.goto(test.url);
    const tabs = [page, await page.context().newPage(), await page.context().newPage()];
    for (const tab of tabs.slice(1)) {
      await tab.goto(test.url);
      await tab.getByRole('heading', { name: 'Inbox' }).waitFor();
      await tab.getByText('Live', { exact: true }).waitFor();
    }
    expect(made.filter((call) => call.includes('/stream'))).toHaveLength(1);
    for (const tab of tabs.slice(1)) await tab.evaluate(HIDE(true));
    made.splice(0);
    await desk.handIn('Email eve@acme.example, subject "Tea": "At four."');
    await row(page, /eve/).waitFor();
    console.info('calls of three tabs for one draft', made);
    const lists = () => made.filter((call) => call.startsWith('GET /api/pro/approvals?')).length;
    const before = lists();
    expect(await row(tabs[1]!, /eve/).count()).toBe(0);
    await tabs[1]!.evaluate(HIDE(false));
    await row(tabs[1]!, /eve/).waitFor();
    expect(lists()).toBe(before + 1);
    expect(await row(tabs[2]!, /eve/).count()).toBe(0);
    // The tab that reads is closed: another one goes on.
    await tabs[2]!.evaluate(HIDE(false));
    made.splice(0);
    await page.close();
    await desk.handIn('Email fay@acme.example, subject "Tea": "At four."');
    for (const tab of tabs.slice(1)) await row(tab, /fay/).waitFor();
    expect(made.filter((call) => call.includes('/stream'))).toHaveLength(1);
    // Signing out in one tab closes what the other shows.
    await tabs[1]!.getByRole('button', { name: 'Sign out' }).click();
    await tabs[2]!.getByLabel('Password').waitFor();
    expect(await row(tabs[2]!, /fay/).count()).toBe(0);
    await tabs[2]!.close();
  });
});
