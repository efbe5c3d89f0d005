import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { leaveDelivered } from '../../e2e/webhooks/webhook-rows.js';
import type { TestApp } from '../../support/test-app.js';
import { DashboardDesk, hasBrowser, PASSWORD } from './dashboard-desk.js';

const DELIVERIES = 3;

describe.runIf(hasBrowser)('work of many requests that a person has left', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;

  beforeAll(async () => {
    desk = await DashboardDesk.open();
    ({ test, page } = desk);
    const { deliveryId } = await leaveDelivered(test, test.workspaceId);
    await test.rows(
      `insert into webhook_deliveries select (jsonb_populate_record(null::webhook_deliveries, to_jsonb(t) ||
         jsonb_build_object('delivery_id', 'dlv_' || lpad(n::text, 26, '0')))).*
       from webhook_deliveries t, generate_series(2, $2::int) n where t.delivery_id = $1`,
      [deliveryId, DELIVERIES],
    );
    await test.rows(
      `insert into revenue_events (event_id, workspace_id, amount, currency, source, occurred_at, recorded_by, created_at)
       select 'rev_' || lpad(n::text, 26, '0'), $1, n, 'EUR', 'Acme', now(), '{}', now() from generate_series(1, 250) n`,
      [test.workspaceId],
    );
    await page.clock.install();
    await desk.begin();
    await desk.signIn();
  });
  beforeEach(() => desk.begin());
  afterAll(() => desk?.close());

  /** Answers the second request of a kind, and no other, as a limit that is used up does. */
  async function refuseSecond(url: string | RegExp): Promise<string[]> {
    const asked: string[] = [];
    await page.route(url, async (route) => {
      asked.push(route.request().url());
      if (asked.length !== 2) return route.continue();
      await route.fulfill({
        status: 429,
        headers: { 'Retry-After': '20' },
        json: { error: 'RATE_LIMITED', message: 'Too many requests.' },
      });
    });
    return asked;
  }
  const goOn = async () => {
    await page.clock.runFor('00:30');
    await page.unrouteAll();
  };

  async function sendAgain(): Promise<string[]> {
    await page.goto(`${test.url}/setup`);
    await page.getByRole('link', { name: /^Connections/ }).click();
    await page
      .getByText(/^Deliveries/)
      .first()
      .click();
    const boxes = page.getByRole('checkbox', { name: /^Choose the Daily Report was made/ });
    await boxes.first().waitFor();
    for (let at = 0; at < DELIVERIES; at++) await boxes.nth(at).check();
    const asked = await refuseSecond(/\/redeliver$/);
    await page.getByRole('button', { name: `Send ${DELIVERIES} again` }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: `Send ${DELIVERIES} again` })
      .click();
    await page.getByText(/1 of 3 handed over; too many requests, it continues in/).waitFor();
    return asked;
  }

  it('sends nothing more once its page is left, and says how much was sent', async () => {
    const asked = await sendAgain();
    await page.evaluate('history.back()');
    await page.getByRole('link', { name: /^Connections/ }).waitFor();
    await page.getByText('Stopped: 1 of 3 deliveries were sent again.').waitFor();
    await goOn();
    expect(asked).toHaveLength(2);
  });

  it('sends nothing more once the page is locked, and says so when the person is back', async () => {
    // What is still tried by itself is sent no second time.
    await test.rows(`with gone as (delete from work_items where kind = 'webhook.deliver')
      update webhook_deliveries set status = 'delivered'`);
    const before = await test.rows('select delivery_id from webhook_deliveries');
    const asked = await sendAgain();
    await test.rows('update sessions set ended_at = now()');
    await test.rows('update tokens set revoked_at = now() where session_id is not null');
    await page.getByRole('heading', { name: 'Signed out' }).waitFor();
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('Stopped: 1 of 3 deliveries were sent again.').waitFor();
    await goOn();
    expect(asked).toHaveLength(2);
    expect(await test.rows('select delivery_id from webhook_deliveries')).toHaveLength(before.length + 1);
  });

  it('reads a list no further, and saves no file', async () => {
    await page.goto(`${test.url}/overview?view=boss`);
    const asked = await refuseSecond(/revenue-events\?limit=100/);
    let files = 0;
    page.on('download', () => files++);
    await page.getByRole('button', { name: /^CSV of revenue/ }).click();
    await page.getByText('100 rows read; too many requests, it continues in').waitFor();
    await page.getByRole('link', { name: 'Directives' }).click();
    await page.getByText('Reading the list was stopped after 100 rows.').waitFor();
    await goOn();
    expect(asked).toHaveLength(2);
    expect(files).toBe(0);
  });
});
