import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OrderDesk } from '../../e2e/standing-orders/order-desk.js';
import { Client } from '../../support/client.js';
import type { TestApp } from '../../support/test-app.js';
import { DashboardDesk, hasBrowser } from './dashboard-desk.js';

const PLAN = {
  type: 'object',
  properties: {
    plan: { type: 'string', title: 'Plan', enum: ['basic', 'pro'] },
    seats: { type: 'integer', title: 'Seats', minimum: 1 },
    yearly: { type: 'boolean', title: 'Paid by the year' },
  },
  required: ['plan'],
};

describe.runIf(hasBrowser)('approvals of every kind', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;
  let bot: Client;

  beforeAll(async () => {
    desk = await DashboardDesk.open();
    ({ test, page } = desk);
    const agent = { name: 'refund-bot' };
    const { body } = await test.owner.post('/tokens', { name: 'Refunds', agent, tools: ['pay.*'] });
    bot = new Client(test.url, body.token);
    await desk.signIn();
  });
  afterAll(() => desk?.close());
  beforeEach(() => desk.begin());

  const approvalOf = async (id: string) => (await test.owner.get(`/approvals/${id}`)).body;

  it('has a question answered by the form that the agent wants', async () => {
    const { body } = await bot.post('/questions', {
      title: 'Which plan?',
      reason: 'Karl wants both.',
      answerSchema: PLAN,
    });
    await page.getByRole('link', { name: /Question from refund-bot/ }).click();
    await page.getByText('Its reason: “Karl wants both.”').waitFor();
    await page.getByLabel('Plan').selectOption('pro');
    await page.getByLabel('Seats').fill('3');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Answer' }).click();
    await page.getByText('Nothing waits for you').waitFor();
    expect((await approvalOf(body.approvalId)).answer).toEqual({ plan: 'pro', seats: 3, yearly: false });
    expect(desk.complaints).toEqual([]);
  });

  it('has the parameters of an agent’s action changed, numbers as numbers', async () => {
    const params = { amount: 900, customer: 'C-1', items: [{ sku: 'A' }] };
    const { body } = await bot.post('/action-requests', { tool: 'pay.refund', params, reason: 'It broke.' });
    await page.goto(`${test.url}/approvals/${body.approvalId}`);
    await page.getByText('refund-bot says: “It broke.”').waitFor();
    await page.getByLabel('amount').fill('lots');
    await page.getByText('Give a number.').waitFor();
    expect(await page.getByRole('button', { name: 'Save and approve' }).isDisabled()).toBe(true);
    await page.getByLabel('amount').fill('90.5');
    await page.getByLabel('items').fill('[]');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Save and approve' }).click();
    await page.getByText('Nothing waits for you').waitFor();
    expect(await approvalOf(body.approvalId)).toMatchObject({
      status: 'approved',
      packets: [{ action: { params: { amount: 90.5, customer: 'C-1', items: [] } } }],
    });
    expect(desk.complaints).toEqual([]);
  });

  it('shows what somebody else changed, word by word, before it can be approved', async () => {
    const id = await desk.handIn('Email jane@acme.example, subject "Tea": "We meet at four on Friday."');
    await page.getByRole('link', { name: /jane/ }).click();
    await page.getByRole('textbox', { name: 'Subject' }).fill('Tea time');
    const labels = await page.locator('fieldset label').allTextContents();
    expect(labels.map((label) => /^(To|Subject|Text)/.exec(label)?.[0])).toEqual(['To', 'Subject', 'Text']);
    const { contentHash, packets } = await approvalOf(id);
    const [{ workPacketId, action }] = packets;
    const edit = {
      packets: [{ workPacketId, params: { ...action.params, body: 'We meet at five on Friday.' } }],
    };
    const edited = await test.owner.send('PATCH', `/approvals/${id}`, edit, {
      'If-Match': `"${contentHash}"`,
    });
    expect(edited.status, edited.text).toBe(200);
    const changed = page.getByRole('alert');
    await changed.waitFor();
    // What was read last is known when the page is opened again, too.
    await page.reload();
    await changed.waitFor();
    expect(await changed.locator('del').allTextContents()).toEqual(['four ']);
    expect(await changed.locator('ins').allTextContents()).toEqual(['five ']);
    expect(await page.getByRole('button', { name: 'Save and approve' }).isDisabled()).toBe(true);
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'I have read the changes' }).click();
    expect(await page.getByRole('textbox', { name: 'Subject' }).inputValue()).toBe('Tea time');
    await page.getByRole('button', { name: 'Save and approve' }).click();
    await page.getByText('Nothing waits for you').waitFor();
    expect((await approvalOf(id)).packets[0].action.params).toMatchObject({
      subject: 'Tea time',
      body: 'We meet at five on Friday.',
    });
  });

  it('has what looks like a placeholder confirmed as it stands', async () => {
    const id = await desk.handIn('Email ann@acme.example, subject "Form": "Write [your name] on the form."');
    expect((await approvalOf(id)).inputsNeeded).toBe(1);
    await page.getByRole('link', { name: /ann/ }).click();
    await page.getByText('Still missing: Text.').waitFor();
    await page.getByLabel('Text is right as it stands').check();
    await page.getByRole('button', { name: 'Save and approve' }).click();
    await page.getByText('Nothing waits for you').waitFor();
    expect((await approvalOf(id)).status).toBe('approved');
  });

  it('decides several at once, and names the one that was not', async () => {
    const ids = [
      await desk.handIn('Email a@acme.example, subject "One": "First."'),
      await desk.handIn('Email b@acme.example, subject "Two": "Second."'),
      await desk.handIn('Email c@acme.example, subject "Three": "Third."'),
    ];
    await page.getByRole('checkbox', { name: /a@acme/ }).check();
    await page.getByRole('button', { name: 'Choose all 3 like this' }).click();
    await page.getByRole('button', { name: 'Decide 3 at once' }).click();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await test.rows(`update approvals set content_hash = repeat('0', 64) where approval_id = $1`, [ids[1]]);
    await page.getByRole('button', { name: 'Approve 3' }).click();
    await page.getByText('2 of 3 decided.').waitFor();
    expect(await page.getByRole('dialog').getByRole('listitem').allTextContents()).toEqual([
      expect.stringContaining('b@acme.example'),
    ]);
    await page.getByRole('button', { name: 'Close' }).click();
    expect((await approvalOf(ids[0]!)).status).toBe('approved');
  });

  it('is worked by keys alone, which can be turned off', async () => {
    const id = await desk.handIn('Email dora@acme.example, subject "Key": "Pressed."');
    await page.goto(test.url);
    await page.getByRole('link', { name: /dora/ }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Next one').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const here = () => page.getByRole('heading', { level: 1 }).last().textContent();
    while (!(await here())?.includes('dora')) {
      await page.keyboard.press('j');
      await page.waitForTimeout(200);
    }
    await page.getByRole('textbox', { name: 'Subject' }).waitFor();
    await page.keyboard.press('r');
    await page.keyboard.type('not approved by typing');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Approve' }).click({ trial: true });
    await page.keyboard.press('a');
    await page.getByRole('link', { name: /dora/ }).waitFor({ state: 'detached' });
    expect((await approvalOf(id)).status).toBe('approved');
  });

  it('says who may approve, who has, and why this person may not', async () => {
    const orders = new OrderDesk(test);
    const order = {
      effect: 'require_approval',
      match: { actionTypes: ['email.send'] },
      approval: { quorum: 2 },
    };
    const other = await test.createMember(test.workspaceId, 'operator');
    await test.createMember(test.workspaceId, 'admin');
    await orders.active({ name: 'Two people', ...order });
    const { body } = await other.post('/directives', {
      directive: 'Email finn@acme.example, subject "Two": "Both of us."',
      capo: 'capo_ops',
    });
    await test.owner.get(`/approvals/${body.approvalId}?wait=10`);
    await page.goto(`${test.url}/approvals/${body.approvalId}`);
    await page.getByText('0 of 2 people have approved.').waitFor();
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.goto(`${test.url}/approvals/${body.approvalId}`);
    await page.getByText('1 of 2 people have approved: Mira.').waitFor();
    await page.getByText('You have approved this. Somebody else has to approve it too.').waitFor();
    expect(await page.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0);
    expect(await desk.findingsEverywhere()).toEqual([]);
    expect(desk.complaints).toEqual([]);
  });
});
