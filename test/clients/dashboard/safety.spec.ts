import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { EscalationDesk } from '../../e2e/escalations/escalation-desk.js';
import { OrderDesk } from '../../e2e/standing-orders/order-desk.js';
import { eventually, type TestApp } from '../../support/test-app.js';
import { DashboardDesk, hasBrowser } from './dashboard-desk.js';

describe.runIf(hasBrowser)('escalations and safety', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;

  beforeAll(async () => {
    desk = await DashboardDesk.open();
    ({ test, page } = desk);
    await desk.begin();
    await desk.signIn('/escalations');
  });
  beforeEach(() => desk.begin());
  afterAll(() => desk?.close());

  it('has an escalation decided by one of its options, which say what they do', async () => {
    const escalationId = await new EscalationDesk(test).open();
    await page.goto(test.url);
    await page.getByRole('link', { name: 'Could not be done 1' }).click();
    await page.getByText('The printer is on fire.').waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await page.getByRole('dialog').getByLabel('Why').fill('It is out.');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Dismiss' }).click();
    await page.getByText('Nothing went wrong.').waitFor();
    expect((await test.owner.get(`/escalations/${escalationId}`)).body).toMatchObject({
      status: 'dismissed',
      note: 'It is out.',
      decidedBy: { name: 'Mira' },
    });
    expect(desk.complaints).toEqual([]);
  });

  it('lets spending beyond a budget through once, by two decisions', async () => {
    const orders = new OrderDesk(test);
    const people = new EscalationDesk(test);
    const budget = { window: 'day', amount: 500, currency: 'EUR', onExceed: 'deny' };
    await orders.active({
      name: 'Up to 500',
      effect: 'allow',
      match: { actionTypes: ['revenue.record'] },
      budget,
    });
    const { body } = await test.owner.post('/directives', {
      directive: 'Record 600 EUR from Acme',
      capo: 'capo_revenue',
      requiresApproval: false,
    });
    await people.until(body.directiveId, 'failed');
    await people.opened(body.directiveId, 'budget_exceeded');
    await page.getByRole('button', { name: 'Approve once' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Approve once' }).click();
    await page.getByText('Nothing went wrong.').waitFor();
    await page.getByRole('link', { name: 'Consigliere' }).click();
    await page.getByRole('link', { name: /Acme/ }).click();
    await page.getByText('This would spend more than a budget allows.').waitFor();
    expect(await page.getByLabel('amount').isDisabled()).toBe(true);
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await people.until(body.directiveId, 'executed');
    expect(desk.complaints).toEqual([]);
  });

  it('takes a checkpoint, and changes the mode', async () => {
    await page.getByRole('link', { name: 'Safety' }).click();
    await page.getByLabel('What it is for').fill('Before the fair');
    await page.getByRole('button', { name: 'Take a checkpoint' }).click();
    await page.getByRole('listitem').filter({ hasText: 'Before the fair' }).waitFor();
    await page.getByRole('button', { name: 'Change to supervised' }).click();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Change to supervised' }).click();
    await page.getByRole('heading', { name: 'Mode: supervised' }).waitFor();
    expect((await test.owner.get('/guardian')).body.mode).toBe('supervised');
    await page.getByText('What Before the fair keeps').click();
    await page.getByText('The mode guardrailed, ').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    expect(desk.complaints).toEqual([]);
  });

  it('shows the plan of a revert, which changes nothing, and reverts by a typed word', async () => {
    await page.getByLabel('How').selectOption('restore');
    await page.getByLabel('To which checkpoint').selectOption({ index: 1 });
    await page.getByRole('button', { name: 'Show the plan' }).click();
    await page.getByText('The mode becomes guardrailed').waitFor();
    expect((await test.owner.get('/guardian')).body.mode).toBe('supervised');
    await page.getByRole('button', { name: 'Carry out this plan' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Revert' }).click();
    expect((await test.owner.get('/guardian')).body.mode).toBe('supervised');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await dialog.getByLabel('Type REVERT').fill('REVERT');
    await dialog.getByRole('button', { name: 'Revert' }).click();
    await page.getByRole('heading', { name: 'Mode: guardrailed' }).waitFor();
    expect((await test.owner.get('/guardian')).body.mode).toBe('guardrailed');
    await page.getByText('It is done: 0 undone').waitFor();
    expect(desk.complaints).toEqual([]);
  });

  it('undoes one work packet', async () => {
    const approvalId = await desk.handIn('File a note "Rent": "It is due on Friday."');
    const { directiveId } = (await test.owner.get(`/approvals/${approvalId}`)).body;
    await test.owner.post(`/approvals/${approvalId}/approve`);
    await eventually(
      async () => (await test.owner.get(`/directives/${directiveId}`)).body.status,
      (status) => status === 'executed',
    );
    await page.goto(`${test.url}/directives/${directiveId}`);
    await page.getByRole('button', { name: /^Undo / }).click();
    await page.getByRole('dialog').getByLabel('Why').fill('The wrong note.');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
    await page.getByText('undone').first().waitFor();
    expect(desk.complaints).toEqual([]);
  });

  it('leads from the banner of a stop to the plan that ends it, by keys alone', async () => {
    await test.owner.post('/guardian/killswitch', { reason: 'drill' });
    for (const path of ['/sent', '/guardian']) {
      await page.goto(test.url + path);
      const end = page.getByRole('link', { name: 'End the stop' });
      await end.focus();
      expect(await desk.findingsEverywhere()).toEqual([]);
      await page.keyboard.press('Enter');
      await page.waitForURL('**/guardian#revert');
      await page.getByRole('heading', { name: 'The plan' }).waitFor();
      const button = page.getByRole('button', { name: 'End the stop as planned' });
      await button.waitFor();
      expect(await page.evaluate('document.activeElement.textContent')).toBe('End the stop as planned');
      const { y, height } = (await button.boundingBox())!;
      expect(y + height).toBeLessThanOrEqual(page.viewportSize()!.height);
    }
    expect((await test.owner.get('/guardian')).body.mode).toBe('killed');
    // Another kill, which the plan does not show.
    await test.owner.post('/guardian/revert');
    await test.owner.post('/guardian/killswitch', { reason: 'A price list is wrong' });
    await page.getByRole('button', { name: 'End the stop as planned' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'End the stop' }).click();
    await dialog.getByText('The kill switch was engaged again').waitFor();
    expect(desk.complaints.splice(0)).toEqual([expect.stringContaining('409')]);
    expect((await test.owner.get('/guardian')).body.mode).toBe('killed');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Show the plan' }).click();
    await page.getByRole('button', { name: 'End the stop as planned' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End the stop' }).click();
    await page.getByText('Everything is stopped: Mira').waitFor({ state: 'detached' });
    expect((await test.owner.get('/guardian')).body.mode).toBe('guardrailed');
    expect(desk.complaints).toEqual([]);
  });

  it('can be stopped where what is known of oneself cannot be read, which is said', async () => {
    await page.route('**/api/pro/bootstrap', (route) =>
      route.fulfill({ status: 500, contentType: 'application/json', body: '{"error":{"code":"INTERNAL"}}' }),
    );
    await page.goto(test.url);
    await page.getByRole('alert').first().waitFor();
    expect(await desk.findings()).toEqual([]);
    await page.getByRole('button', { name: 'Stop everything' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Type HALT').fill('HALT');
    await dialog.getByRole('button', { name: 'Stop everything' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await test.owner.get('/guardian')).body.mode).toBe('killed');
    await page.unroute('**/api/pro/bootstrap');
    expect((await test.owner.post('/guardian/revert')).status).toBe(200);
    await eventually(
      async () => (await test.owner.get('/guardian')).body.mode,
      (mode) => mode === 'guardrailed',
    );
  });

  it('is not stopped by a second finger, once the first was lifted', async () => {
    await page.goto(test.url);
    await page.getByRole('button', { name: 'Stop everything' }).waitFor();
    const stop = page.locator('.bar button.danger');
    const touch = { pointerType: 'touch', bubbles: true };
    await stop.dispatchEvent('pointerdown', touch);
    await stop.dispatchEvent('pointerdown', touch);
    await page.getByRole('button', { name: 'Keep holding' }).waitFor();
    await stop.dispatchEvent('pointerup', touch);
    // Longer than a finger has to stay.
    await page.waitForTimeout(1_500);
    expect((await test.owner.get('/guardian')).body.mode).toBe('guardrailed');
    expect(desk.complaints).toEqual([]);
  });

  it('keeps what escalations are narrowed to, and the page, in the address', async () => {
    const escalationId = await new EscalationDesk(test).open();
    onTestFinished(async () => {
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await test.rows(`delete from escalations where escalation_id like 'esc_000%' or escalation_id = $1`, [
        escalationId,
      ]);
    });
    await test.rows(
      `insert into escalations select copy.* from (select e from escalations e where escalation_id = $1) one,
         generate_series(1, 60) n, jsonb_populate_record(one.e, jsonb_build_object(
           'escalation_id', 'esc_' || lpad(n::text, 26, '0'), 'entity_id', 'x' || n)) copy`,
      [escalationId],
    );
    await page.route('**/api/pro/bootstrap', async (route) => {
      await setTimeout(1_000);
      await route.continue();
    });
    await page.goto(`${test.url}/escalations`);
    const older = page.getByRole('link', { name: 'Older ones' });
    await older.waitFor();
    // Buttons that came later would move the link away from the pointer.
    expect(await page.getByRole('button', { name: 'Dismiss' }).count()).toBe(50);
    await older.click();
    await page.waitForURL('**/escalations?page=2');
    await page.reload();
    await page.getByText('51 to 61 of 61').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByLabel('Show').selectOption('dismissed');
    await page.waitForURL('**/escalations?status=dismissed');
    await page.getByText('dismissed by Mira').first().waitFor();
    await page.goBack();
    await page.getByText('51 to 61 of 61').waitFor();
    expect(desk.complaints).toEqual([]);
  });

  it('shows a viewer no button that they may not press', async () => {
    await test.rows(`update members set role = 'viewer' where workspace_id = $1`, [test.workspaceId]);
    const escalation = await new EscalationDesk(test).open();
    await page.goto(`${test.url}/escalations`);
    await page.getByText('The printer is on fire.').waitFor();
    await page.getByText('Mira').waitFor();
    for (const [path, title] of [
      ['/settings/api', 'API'],
      ['/service', 'The service'],
    ] as const) {
      await page.goto(test.url + path);
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      await page.getByText(/Ask one of them/).waitFor();
      expect(await desk.findingsEverywhere()).toEqual([]);
    }
    for (const path of ['/escalations', '/guardian', '/directives']) {
      await page.goto(test.url + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByText('Live').waitFor();
      const buttons = await page.getByRole('button').allTextContents();
      expect(buttons.filter((name) => name !== 'CSV')).toEqual(['Sign out', 'Find']);
    }
    await page.goto(`${test.url}/overview?view=boss`);
    await page.getByRole('heading', { name: 'Latest revenue' }).waitFor();
    expect(await page.getByText('Record revenue').count()).toBe(0);
    expect(escalation).toMatch(/^esc_/);
  });
});
