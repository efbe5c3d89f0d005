import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { leaveDecided } from '../../e2e/standing-orders/decided-approvals.js';
import { Client } from '../../support/client.js';
import { eventually, type TestApp } from '../../support/test-app.js';
import { DashboardDesk, hasBrowser } from './dashboard-desk.js';

describe.runIf(hasBrowser)('standing orders', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;

  beforeAll(async () => {
    desk = await DashboardDesk.open();
    ({ test, page } = desk);
    await desk.begin();
    await desk.signIn('/orders');
  });
  beforeEach(() => desk.begin());
  afterAll(() => desk?.close());

  const stored = async () =>
    (await test.rows('select * from standing_orders order by created_at desc limit 1'))[0]!;
  /** A mail that nothing but the lack of an order kept from going by itself. */
  const sent = async (to: string) => {
    // From another address each time: the limits are those of an address.
    const owner = () => new Client(test.url, test.owner.token);
    const directive = `Email ${to}, subject "It ships": "On Friday."`;
    const { directiveId } = (
      await owner().post('/directives', { directive, capo: 'capo_ops', requiresApproval: false })
    ).body;
    const until = (status: string) =>
      eventually(
        async () => (await owner().get(`/directives/${directiveId}`)).body,
        (body) => body.status === status,
      );
    await owner().post(`/approvals/${(await until('pending_approval')).approvalId}/approve`);
    await until('executed');
  };
  const add = async (label: string, name: string) => {
    await page.getByLabel(`Add to: ${label}`).fill(name);
    await page.getByLabel(`Add to: ${label}`).press('Enter');
  };
  const step = async (verb: string, dialogue: () => Promise<unknown> = () => Promise.resolve()) => {
    await page
      .getByRole('button', { name: new RegExp(`^${verb} `) })
      .first()
      .click();
    await dialogue();
    await page.getByRole('dialog').getByRole('button', { name: verb, exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };

  it('keeps an order as a draft, and shows the mails that it would have let go', async () => {
    await page.getByText('None yet').waitFor();
    for (let n = 0; n < 5; n++) await sent('jane@acme.example');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByText('Write a standing order').click();
    await page.getByLabel('Name', { exact: true }).fill('Shipping confirmations');
    await add('What it is about', 'email.send');
    await add('Only for recipients at', 'acme.example');
    await page.getByLabel('At most in an hour').fill('20');
    expect(JSON.parse(await page.getByLabel('The same as JSON').inputValue())).toEqual({
      name: 'Shipping confirmations',
      effect: 'allow',
      match: { actionTypes: ['email.send'], fields: { target: { $domainIn: ['acme.example'] } } },
      limits: { maxPerHour: 20 },
    });
    expect(
      await page.locator('datalist option').evaluateAll((all) => all.map((one) => one.getAttribute('value'))),
    ).toContain('document.file');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Keep as a draft' }).click();
    await page.getByRole('heading', { name: 'Shipping confirmations', level: 1 }).waitFor();
    const simulation = page.getByRole('region', { name: 'Simulation' });
    await simulation.getByText('to jane@acme.example').first().waitFor();
    await simulation.getByText('goes by itself').first().waitFor();
    await simulation.getByText('cannot be taken back once').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    expect(await stored()).toMatchObject({ status: 'draft', version: 1 });
    await page.getByRole('region', { name: 'Rule' }).getByText('only where it is at acme.example').waitFor();
    const safety = page.getByRole('region', { name: 'Safety eval' });
    await safety.getByText(/^(Passed|Did not pass) for version/).waitFor();
    await safety.getByText('Fill in “Ends”, so that somebody looks at it again.').first().waitFor();
    expect(await safety.getByText('`expiresAt`').first().isVisible(), 'JSON stands behind details').toBe(
      false,
    );
    await safety.getByRole('button', { name: 'Check its safety now' }).click();
    const runs = await eventually(
      () => test.rows('select target_entity_id, occasion from eval_runs order by created_at desc'),
      ([newest]) => newest!['occasion'] === 'request',
    );
    expect(runs[0]!['target_entity_id']).toBe((await stored())['standing_order_id']);
    expect(await desk.findingsEverywhere()).toEqual([]);
    expect(desk.complaints).toEqual([]);
  });

  it('tries it out, activates it once an owner acknowledges it, and pauses it', async () => {
    await step('Try out');
    await page.getByText('It is tried out').waitFor();
    expect(await stored()).toMatchObject({ status: 'shadow' });
    await page.getByRole('button', { name: /^Activate / }).click();
    await page.getByRole('dialog').getByText('only where it is at acme.example').waitFor();
    await page.getByRole('dialog').getByText('at most 20 an hour').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click();
    // Nothing is sent before the owner has acknowledged it.
    expect(await page.getByRole('dialog').locator('input:invalid').count()).toBe(1);
    expect(await stored()).toMatchObject({ status: 'shadow' });
    await page.getByRole('dialog').getByRole('checkbox').check();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click();
    await page.getByText('It decides.', { exact: true }).waitFor();
    expect(await stored()).toMatchObject({ status: 'active', limits: { maxPerHour: 20 } });
    await step('Pause');
    await page.getByText('until it is activated again').waitFor();
    expect(await stored()).toMatchObject({ status: 'paused' });
  });

  it('changes it by its JSON, names a fault, shows the difference, and goes back', async () => {
    await page.getByText('Change it').click();
    const json = page.getByLabel('The same as JSON');
    await json.fill('{ "name": ');
    await page.getByText('This is not JSON').waitFor();
    expect(await page.getByRole('button', { name: 'Save as the next version' }).isDisabled()).toBe(true);
    await json.fill(
      JSON.stringify({ name: 'Shipping', effect: 'permit', match: { actionTypes: ['email.read'] } }),
    );
    await page.getByRole('button', { name: 'Save as the next version' }).click();
    await page.getByRole('alert').filter({ hasText: 'Quote' }).waitFor();
    await page.getByLabel('What it does').selectOption('allow');
    await page.getByLabel('email.read: take it out').click();
    await add('What it is about', 'email.send');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Save as the next version' }).click();
    await page.getByRole('heading', { name: 'Shipping', exact: true, level: 1 }).waitFor();
    expect(await stored()).toMatchObject({
      version: 2,
      match: { actionTypes: ['email.send'] },
      limits: null,
    });
    await page.getByText('What has changed since version 1').click();
    await page.locator('del').filter({ hasText: 'maxPerHour' }).waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await step('Go back', () => page.getByRole('dialog').getByText('at most 20 an hour').waitFor());
    await page.getByRole('heading', { name: 'Shipping confirmations', level: 1 }).waitFor();
    expect(await stored()).toMatchObject({ version: 3, limits: { maxPerHour: 20 } });
    await step('Archive');
    await page.getByText('any more').first().waitFor();
    expect(await stored()).toMatchObject({ status: 'archived' });
    expect(desk.complaints.filter((one) => !one.includes('422') && !one.includes('409'))).toEqual([]);
  });

  it('makes a draft of a suggestion, which says what it would have saved', async () => {
    await leaveDecided(test, test.workspaceId, { to: 'bob@globex.example' });
    await page.goto(`${test.url}/orders?status=archived`);
    await page.getByRole('region', { name: 'Orders' }).getByText('Shipping confirmations').waitFor();
    const suggestion = page.getByRole('region', { name: 'Suggestions' }).getByRole('listitem');
    await suggestion.filter({ hasText: 'globex.example' }).getByText('it would have saved').first().waitFor();
    await suggestion
      .filter({ hasText: 'globex.example' })
      .getByText('only where it is at globex.example')
      .first()
      .waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await suggestion
      .filter({ hasText: 'acme.example' })
      .getByRole('button', { name: /^Dismiss/ })
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'Dismiss' }).click();
    await suggestion.filter({ hasText: 'acme.example' }).first().waitFor({ state: 'detached' });
    await step('Make a draft');
    await page.getByRole('region', { name: 'Simulation' }).getByText('cannot be taken back once').waitFor();
    expect(await stored()).toMatchObject({ status: 'draft', match: { actionTypes: ['email.send'] } });
  });

  it('says whose acknowledgement a draft needs, and which pack brought it', async () => {
    const { standing_order_id: id } = await stored();
    await test.rows(
      `update standing_orders set created_by = '{"type": "system", "id": "pck_01kerr2kg0s8c5m2v7x4z9b1nd",
         "name": "The skill pack invoice-reminders", "via": "policy"}' where standing_order_id = $1`,
      [id],
    );
    await page.goto(`${test.url}/orders?status=draft`);
    const listed = page.getByRole('region', { name: 'Orders' }).getByRole('listitem').first();
    await listed.getByText('an owner has to activate it').waitFor();
    await listed.getByText('by The skill pack invoice-reminders').waitFor();
    await listed.getByRole('link').click();
    await page.getByText('An owner has to activate it.').waitFor();
    await page.getByText('by The skill pack invoice-reminders').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
  });

  it('shows the rule beside the words of its author, and what asks only because it was handed in so', async () => {
    await test.owner.post('/directives', {
      directive: 'Email eve@evil.example, subject "It ships": "On Friday."',
      capo: 'capo_ops',
      requiresApproval: true,
    });
    await eventually(
      () => test.rows(`select 1 from approvals where status = 'pending'`),
      (rows) => rows.length > 0,
    );
    const text = 'Mail to acme.example may leave by itself, five a day at most.';
    const fields = { 'params.to': { $domainIn: ['evil.example'] } };
    const { body } = await test.owner.post('/standing-orders', {
      ...{ draft: true, name: 'Mail to Acme', text, effect: 'allow', limits: { maxPerDay: 500 } },
      match: { actionTypes: ['email.send'], fields },
    });
    await page.goto(`${test.url}/orders?status=draft`);
    const listed = page.getByRole('region', { name: 'Orders' }).getByRole('listitem').first();
    await listed.getByText('params.to: only where it is at evil.example').waitFor();
    await listed.getByText('at most 500 a day').waitFor();
    await listed.getByText('The author’s words, which decide nothing:').waitFor();
    // Nothing of what the service keeps beside the rule.
    expect(await listed.textContent()).not.toMatch(/standingOrderId|simulation|createdAt/);
    await listed.getByRole('link').click();
    const rule = page.getByRole('region', { name: 'Rule' });
    await rule.getByText('only where it is at evil.example').waitFor();
    await rule.getByText('The author’s words, which decide nothing:').waitFor();
    await page
      .getByText(/^This order would have let 1 more of the \d+ go, but a person was asked to look first/)
      .waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await test.rows(
      `update standing_orders set match = jsonb_set(match, '{actionTypes}',
         (select jsonb_agg('tool.' || n || repeat('x', 100)) from generate_series(1, 40) n)) where standing_order_id = $1`,
      [body.standingOrderId],
    );
    await page.goto(`${test.url}/orders?status=draft`);
    await listed.getByText('too long for a list').waitFor();
    await listed.getByRole('link').click();
    await page.getByRole('heading', { name: 'Mail to Acme', level: 1 }).waitFor();
  });

  it('shows a viewer no button that they may not press', async () => {
    const url = page.url();
    await test.rows(`update members set role = 'viewer' where workspace_id = $1`, [test.workspaceId]);
    for (const path of ['/orders', new URL(url).pathname]) {
      await page.goto(test.url + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByText('version 1').or(page.getByText('Operators write orders')).first().waitFor();
      expect(await desk.buttons()).toEqual([]);
    }
  });
});
