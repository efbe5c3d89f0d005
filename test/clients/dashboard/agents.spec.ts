import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Client } from '../../support/client.js';
import { eventually, type TestApp } from '../../support/test-app.js';
import { DashboardDesk, hasBrowser } from './dashboard-desk.js';

const REFUND = {
  name: 'crm.refund',
  title: 'Refund an order',
  description: 'Pays money back.',
  paramsSchema: {
    type: 'object',
    properties: {
      order: { type: 'string', description: 'The order to pay back.', maxLength: 20 },
      lines: { type: 'array', items: { type: 'object', properties: { sku: { type: 'string' } } } },
      reason: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    },
    required: ['order'],
  },
};

describe.runIf(hasBrowser)('agents and tools', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;
  let agent: Client;

  beforeAll(async () => {
    desk = await DashboardDesk.open();
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
  afterAll(() => desk?.close());

  const step = async (verb: string, of: string) => {
    await page.getByRole('button', { name: `${verb} ${of}`, exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: verb, exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  const tools = () => test.rows('select name, title, status from tools');

  it('shows what an agent asked today, and pauses and resumes it', async () => {
    const asked = await agent.post('/action-requests', { tool: 'crm.refund', params: { order: '4711' } });
    expect(asked.status, asked.text).toBe(201);
    await page.getByRole('link', { name: 'Agents and tools' }).click();
    await page.getByText('Nothing is proposed.').waitFor();
    await page.getByText('What CRM cleaner asked today').click();
    await page.getByRole('link', { name: 'Read the approval' }).waitFor();
    await page.getByRole('button', { name: /^Take back crm.refund/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Take back' }).click();
    await page.getByText('cancelled', { exact: true }).waitFor();
    expect(await test.rows('select status from action_requests')).toEqual([{ status: 'cancelled' }]);
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Pause CRM cleaner' }).click();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.keyboard.press('Escape');
    await step('Pause', 'CRM cleaner');
    await page.getByRole('button', { name: 'Resume CRM cleaner' }).waitFor();
    await eventually(
      async () => (await agent.get('/action-requests')).status,
      (status) => status === 403,
    );
    await step('Resume', 'CRM cleaner');
    await page.getByRole('button', { name: 'Pause CRM cleaner' }).waitFor();
    // Every process knows within a second.
    await eventually(
      async () => (await agent.get('/action-requests')).status,
      (status) => status === 200,
    );
    expect(desk.complaints).toEqual([]);
  });

  it('shows what a capo was given today, pauses it and resumes it', async () => {
    await desk.handIn('File a note "Rent": "It is due."');
    await page.getByText('What ops was given today').click();
    await page.getByRole('link', { name: /Rent/ }).waitFor();
    await page
      .getByText('What hr was given today')
      .or(page.getByText('What revenue was given today'))
      .first()
      .click();
    await page.getByText('None yet.', { exact: true }).waitFor();
    await step('Pause', 'Ops');
    await page.getByRole('button', { name: 'Resume Ops' }).waitFor();
    expect(await test.rows('select capo from paused_capos')).toEqual([{ capo: 'capo_ops' }]);
    await step('Resume', 'Ops');
    await page.getByRole('button', { name: 'Pause Ops' }).waitFor();
    expect(await test.rows('select capo from paused_capos')).toEqual([]);
  });

  it('shows a proposed tool as soon as it is, and what changes in it while it is read', async () => {
    expect((await agent.post('/tools', REFUND)).status).toBe(201);
    await page.getByText('Read crm.refund').click();
    await page.getByText('Pays money back.').waitFor();
    const parameter = page.getByRole('listitem').filter({ hasText: 'crm.refund' }).locator('dl div');
    expect(await parameter.allTextContents()).toEqual([
      'lines list of object',
      'lines[].sku string',
      'order requiredstringThe order to pay back.characters at most 20',
      'reason anythingIt has more rules: see the JSON.',
    ]);
    await page.getByRole('button', { name: 'Accept crm.refund' }).waitFor();
    const { fingerprint } = (await test.owner.get('/tools/crm.refund')).body;
    const changed = await test.owner.send(
      'PATCH',
      '/tools/crm.refund',
      { description: 'Pays any sum to anybody.' },
      { 'If-Match': fingerprint },
    );
    expect(changed.status, changed.text).toBe(200);
    await page.getByText('This definition was changed since you read it').waitFor();
    await page.locator('ins').filter({ hasText: 'anybody' }).waitFor();
    expect(await page.getByRole('button', { name: 'Accept crm.refund' }).count()).toBe(0);
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'I have read the change' }).click();
    await step('Accept', 'crm.refund');
    await page.getByText('Nothing is proposed.').waitFor();
    expect(await tools()).toEqual([{ name: 'crm.refund', title: 'Refund an order', status: 'active' }]);
    expect(desk.complaints).toEqual([]);
  });

  it('changes a definition with the difference before it, pauses the tool, and refuses another', async () => {
    await page.getByText('Show crm.refund').click();
    await page.getByText('Change crm.refund').click();
    const definition = page.getByLabel('Definition of crm.refund');
    await definition.fill((await definition.inputValue()).replace('Refund an order', 'Pay back'));
    await page.locator('del').filter({ hasText: 'Refund' }).waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Save this definition' }).click();
    await page.getByRole('button', { name: 'I have read the change' }).click();
    await step('Pause', 'crm.refund');
    await page.getByText('paused: each request for it is denied').waitFor();
    expect(await tools()).toEqual([{ name: 'crm.refund', title: 'Pay back', status: 'paused' }]);
    expect((await agent.post('/tools', { ...REFUND, name: 'crm.erase' })).status).toBe(201);
    await page.getByText('Read crm.erase').click();
    await step('Refuse', 'crm.erase');
    await page.getByText('Nothing is proposed.').waitFor();
    expect(await tools()).toHaveLength(1);
    expect(desk.complaints).toEqual([]);
  });

  it('registers a tool, and says what is wrong with a schema', async () => {
    await page.getByText('Register a tool').click();
    await page.getByLabel('Name', { exact: false }).first().fill('crm.note');
    await page.getByLabel('What it takes').fill('{ "type": "object", ');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Register the tool' }).click();
    await page.getByRole('alert').filter({ hasText: 'JSON' }).waitFor();
    await page.getByLabel('What it takes').fill('{ "type": "object", "properties": {} }');
    await page.getByRole('button', { name: 'Register the tool' }).click();
    await page.getByText('Show crm.note').waitFor();
    expect(await test.rows(`select name, status, risk from tools where name = 'crm.note'`)).toEqual([
      { name: 'crm.note', status: 'active', risk: 'high' },
    ]);
    await page.getByText('Show crm.note').click();
    await page.getByText('it takes whatever is given').waitFor();
    // What has changed while nobody looked is shown to those who read it before.
    await page.getByRole('link', { name: 'Set-up' }).click();
    const { fingerprint } = (await test.owner.get('/tools/crm.note')).body;
    const more = { description: 'Writes to the customer.' };
    expect(
      (await test.owner.send('PATCH', '/tools/crm.note', more, { 'If-Match': fingerprint })).status,
    ).toBe(200);
    await page.getByRole('link', { name: 'Agents and tools' }).click();
    await page.getByText('Show crm.note').click();
    await page.locator('ins').filter({ hasText: 'customer' }).waitFor();
    await page.getByRole('button', { name: 'I have read the change' }).click();
    await page.getByRole('button', { name: 'Delete crm.note' }).waitFor();
    expect(desk.complaints).toEqual([]);
  });

  it('shows a viewer no button that they may not press', async () => {
    await test.rows(`update members set role = 'viewer' where workspace_id = $1`, [test.workspaceId]);
    const other = await test.createMember(test.workspaceId, 'admin');
    await test.rows('update tokens set member_id = $1 where name = $2', [other.memberId, 'cleaner']);
    await page.reload();
    await page.getByText('Show crm.refund').click();
    await page.getByText('Pays any sum').waitFor();
    expect(await desk.buttons()).toEqual([]);
  });
});
