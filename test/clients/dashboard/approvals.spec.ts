import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MAIL_TO_ACME, OrderDesk } from '../../e2e/standing-orders/order-desk.js';
import { Client } from '../../support/client.js';
import type { TestApp } from '../../support/test-app.js';
import { DashboardDesk, hasBrowser, PHONE } from './dashboard-desk.js';

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

  it('marks a wrong address at its field, and names fields instead of paths, before anything is saved', async () => {
    const id = await desk.handIn('Email jane@acme.example, subject "Tea": "At four."');
    await page.goto(`${test.url}/approvals/${id}`);
    const to = page.getByRole('textbox', { name: /^To/ });
    for (const wrong of ['jane', 'jane@', 'jane@acme', 'ann@acme.example, @acme.example']) {
      await to.fill(wrong);
      await page.getByText('is no mail address such as').waitFor();
      expect(await to.getAttribute('aria-invalid')).toBe('true');
      expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
    }
    expect(await desk.findingsEverywhere()).toEqual([]);
    await to.fill('jane.doe@sub.acme.example, ann@acme.example');
    await page.getByText('is no mail address such as').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor();
    expect((await approvalOf(id)).packets[0].action.params.to).toEqual([
      'jane.doe@sub.acme.example',
      'ann@acme.example',
    ]);
    await test.owner.post(`/approvals/${id}/reject`, { feedback: 'Seen.' });

    await page.goto(`${test.url}/directives`);
    await page.getByLabel('What should be done').fill('Email jane@acme.example that we moved.');
    await page.getByText('You are asked for what is missing: Subject, Text.').waitFor();
    expect(await page.getByText('params.').count()).toBe(0);
    await page.getByLabel('What should be done').fill('');

    const schema = { type: 'object', properties: { amount: { type: 'number', maximum: 100 } } };
    const tool = { name: 'pay.limited', paramsSchema: schema, title: 'Pay' };
    expect((await test.owner.post('/tools', tool)).status).toBe(201);
    const { body } = await bot.post('/action-requests', { tool: 'pay.limited', params: { amount: 9 } });
    await page.goto(`${test.url}/approvals/${body.approvalId}`);
    await page.getByLabel('Amount').fill('900');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const failure = page.getByRole('alert');
    await failure.getByText('Amount').waitFor();
    expect(await failure.textContent()).not.toContain('params');
    desk.complaints.splice(0);
    await test.owner.post(`/approvals/${body.approvalId}/reject`, { feedback: 'Seen.' });
    await page.evaluate('sessionStorage.clear()');
    await page.goto(test.url);
    await page.getByText('Nothing waits for you').waitFor();
  });

  it('says before a draft is sent back what the built-in runner can do, and what became of it', async () => {
    const id = await desk.handIn('Email kay@acme.example, subject "Tea": "At four."');
    await page.goto(`${test.url}/approvals/${id}`);
    await page.getByText('which follows no wishes').waitFor();
    await page.getByLabel('What should be different').fill('Make it friendlier.');
    await page.getByRole('button', { name: 'Send back' }).click();
    await page
      .getByRole('status')
      .getByText(/^Sent back for another draft: .*kay/)
      .waitFor();
    const { nextApprovalId } = await approvalOf(id);
    await test.owner.get(`/approvals/${nextApprovalId}?wait=10`);
    await page.goto(`${test.url}/approvals/${nextApprovalId}`);
    await page.getByText('Nothing was changed.').waitFor();
    await page.goto(`${test.url}/approvals/${id}`);
    await page.getByText('Sent back by Mira').waitFor();
    await page.getByRole('link', { name: 'Read the draft that was made instead' }).click();
    await page.waitForURL(`**/approvals/${nextApprovalId}`);
    expect(await desk.findingsEverywhere()).toEqual([]);
    await test.owner.post(`/approvals/${nextApprovalId}/reject`, { feedback: 'Enough.' });
    expect(desk.complaints).toEqual([]);
  });

  it('says of a decided one by whom, when and why, and of its directive why it was rejected', async () => {
    const wish = `Email max@acme.example, subject "Tea": "${'We meet at four and then we talk about the garden. '.repeat(4).trim()}"`;
    const id = await desk.handIn(wish);
    await page.goto(`${test.url}/approvals/${id}`);
    await page
      .getByText(/^until /)
      .first()
      .waitFor();
    await test.owner.post(`/approvals/${id}/reject`, { feedback: 'Max is on holiday.' });
    const { directiveId, receiptId } = await approvalOf(id);
    for (const path of [`/approvals/${id}`, `/directives/${directiveId}`]) {
      await page.goto(test.url + path);
      const main = page.getByRole('main');
      await main.getByText('Rejected by Mira').waitFor();
      await main.getByText('Max is on holiday.').first().waitFor();
      expect(await main.getByText(/^until /).count()).toBe(0);
      expect(await main.getByRole('link', { name: `Receipt ${receiptId}` }).count()).toBeGreaterThan(0);
      expect(await desk.findingsEverywhere()).toEqual([]);
    }
    // The heading is cut at a word, and the whole text stands below it.
    const heading = (await page.getByRole('heading', { level: 1 }).textContent())!;
    expect(heading).toMatch(/^Email max@acme\.example.* …$/);
    expect(wish.startsWith(heading.replace(/ …$/, ''))).toBe(true);
    expect(wish.charAt(heading.length - 2)).toBe(' ');
    await page.getByText(wish, { exact: true }).waitFor();
    expect(desk.complaints).toEqual([]);
  });

  it('lists what left: whether it reached anybody, who or which order let it go, agents too, each with its receipt', async () => {
    const mail = await desk.handIn('Email olga@acme.example, subject "Tea": "At four."');
    await test.owner.post(`/approvals/${mail}/approve`);
    const orders = new OrderDesk(test);
    const standingOrderId = await orders.active(MAIL_TO_ACME);
    const text = 'Email pia@acme.example, subject "Tea": "At five."';
    await test.owner.post('/directives', { directive: text, capo: 'capo_ops', requiresApproval: false });
    const params = { amount: 5, customer: 'C-7' };
    const asked = await bot.post('/action-requests', { tool: 'pay.refund', params });
    await test.owner.post(`/approvals/${asked.body.approvalId}/approve`);
    const action = `/action-requests/${asked.body.actionRequestId}`;
    await bot.post(`${action}/consume`, { attempt: 'x'.repeat(32), params });
    const reported = await bot.post(`${action}/result`, { outcome: 'succeeded', summary: 'Refunded 5.' });
    expect(reported.status, reported.text).toBe(200);
    await desk
      .handIn('File a note "Rent": "It is due on Friday."')
      .then((id) => test.owner.post(`/approvals/${id}/approve`));

    await page.goto(`${test.url}/sent`);
    const row = (about: RegExp | string) =>
      page.getByRole('main').getByRole('listitem').filter({ hasText: about });
    await row('olga').getByText('Nobody has received it.').waitFor();
    await row('olga').getByRole('link', { name: 'approved by Mira' }).waitFor();
    await row('by the agent refund-bot').getByRole('link', { name: 'approved by Mira' }).waitFor();
    await row('pia').getByRole('link', { name: 'Mail to Acme' }).waitFor();
    expect(await row('pia').getByText('approved by').count()).toBe(0);
    expect(await row('Rent').count()).toBe(0);
    expect(await desk.findingsEverywhere()).toEqual([]);
    await row('pia').getByRole('link', { name: 'Mail to Acme' }).click();
    await page.waitForURL(`**/orders/${standingOrderId}`);
    await page.goto(`${test.url}/sent`);
    const { body: left } = await test.owner.get('/audit-feed/sent');
    expect(left.items.find(({ agent }: { agent: string }) => agent).receiptId).toBe(reported.body.receiptId);
    await row('refund-bot')
      .getByRole('link', { name: `Receipt ${reported.body.receiptId}` })
      .click();
    const receipt = page.getByRole('region', { name: 'Receipt' });
    await receipt.getByText(/for refund-bot succeeded, as reported/).waitFor();
    await receipt.getByText(reported.body.receiptId).waitFor();
    expect(new URL(page.url()).search).toBe(`?view=auditor&receipt=${reported.body.receiptId}`);
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.goto(`${test.url}/overview?view=auditor&receipt=rcp_01khqw9ewg14azqhp5x4vkpz0a`);
    await receipt.getByText('There is no such receipt').waitFor();
    expect(desk.complaints).toEqual([]);
    await page.goto(test.url);
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
    await page
      .getByText('the same capo, action, recipients’ domain and risk, whatever the subject')
      .waitFor();
    await page.getByRole('button', { name: 'Choose all 3 like this' }).click();
    await page.setViewportSize(PHONE);
    await page.getByRole('button', { name: 'Decide 3 at once' }).click();
    await page.getByRole('button', { name: 'Approve 3' }).waitFor();
    expect(await desk.hiddenInDialog('Approve 3', 'Reject 3', 'Back')).toEqual([]);
    expect(await desk.findingsEverywhere()).toEqual([]);
    await test.rows(`update approvals set content_hash = repeat('0', 64) where approval_id = $1`, [ids[1]]);
    await page.getByRole('button', { name: 'Approve 3' }).click();
    await page.getByText('2 of 3 decided.').waitFor();
    expect(await page.getByText(/^Decide 0/).count()).toBe(0);
    expect(await desk.findingsEverywhere()).toEqual([]);
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

  it.each([
    ['/approvals/nobody', 'Go to the inbox'],
    ['/approvals/apr_01khqw6q00tp9w1md2nw5hc13a', 'Go to the inbox'],
    ['/directives/nobody', 'All directives'],
    ['/directives/dir_01khqw6q006hs686p8sr7arg9t', 'All directives'],
    ['/escalations/nobody', 'All escalations'],
    ['/escalations/esc_01khqws0y0g13zyp5vc6y27gyg', 'All escalations'],
    ['/orders/nobody', 'All standing orders'],
    ['/orders/so_01kerr2kg0xaen9f9sdsg8py4z', 'All standing orders'],
  ])('shows a page with a way on for an id that leads to nothing: %s', async (path, way) => {
    await page.goto(test.url + path);
    await page.getByText('Nothing here has this id').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('main').getByRole('link', { name: way }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(path));
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    expect(desk.complaints.filter((one) => !/status of 4(04|22)/.test(one))).toEqual([]);
  });
});
