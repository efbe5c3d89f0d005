import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EscalationDesk } from '../../e2e/escalations/escalation-desk.js';
import { leaveReport } from '../../e2e/reports/report-rows.js';
import { SignalDesk } from '../../e2e/records/signal-desk.js';
import { FILE_DOCUMENTS, OrderDesk } from '../../e2e/standing-orders/order-desk.js';
import { Client } from '../../support/client.js';
import { type EventReceiver, startEventReceiver } from '../../support/event-receiver.js';
import { eventually, type TestApp } from '../../support/test-app.js';
import { DashboardDesk, DESK, hasBrowser, PASSWORD, PHONE } from './dashboard-desk.js';

const RUNS = 'globalThis.ran=1';
/** HTML, Markdown, links that run something, an emoji of several characters, and a long word: the service takes it. */
const SEEN = [
  `<img src=x onerror="${RUNS}"><script>${RUNS}</script><a href="javascript:${RUNS}">x</a>`,
  `[x](javascript:${RUNS}) ![x](data:text/html,<script>${RUNS}</script>) 👩‍👩‍👧 ${'W'.repeat(200)}`,
].join(' ');
/** With marks that reorder or hide and a control character, as something older or forged may have them. */
const HOSTILE = `${SEEN} \u202egpj.exe\u202c pay\u200bpal \u2066x\u2069 \u0007bell \u{e0041}`;
const LONG_WORD = 'W'.repeat(100_000);
// oxlint-disable-next-line no-control-regex -- exactly these are looked for
const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u200b\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u;

/** What people, agents, models and other systems write, as the API names it. */
const WRITTEN = new Set(
  [
    'title summary name text reason reasons message label rationale explanation sentence headline body target description',
    'riskReasons note feedback segment stage targets tools params hint address question shortCode email displayName',
  ].flatMap((names) => names.split(' ')),
);

/** The same answer, with hostile text wherever somebody could have written it. */
function poisoned(value: unknown, text: string, isWritten = false): unknown {
  if (typeof value === 'string') return isWritten ? text : value;
  if (Array.isArray(value)) return value.map((each) => poisoned(each, text, isWritten));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, poisoned(each, text, isWritten || WRITTEN.has(name))]),
  );
}

/** Has every answer to a question of the page poisoned, and that to a plan, which is one too. */
async function poison(page: Page, text = HOSTILE): Promise<void> {
  await page.route('**/api/**', async (route) => {
    const request = route.request();
    const isPlan = request.postData()?.includes('dryRun') ?? false;
    if (request.url().includes('/stream') || (request.method() !== 'GET' && !isPlan)) return route.fallback();
    const response = await route.fetch();
    const json = await response.json().catch(() => undefined);
    if (json === undefined) return route.fulfill({ response });
    const { csrfToken, ...answer } = json;
    await route.fulfill({
      response,
      json: { ...(poisoned(answer, text) as object), ...(csrfToken && { csrfToken }) },
    });
  });
}

describe.runIf(hasBrowser)('hostile content', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;
  let bot: Client;
  let receiver: EventReceiver;

  beforeAll(async () => {
    receiver = await startEventReceiver();
    desk = await DashboardDesk.open({ OUTBOUND_ALLOW: receiver.hostPort });
    ({ test, page } = desk);
    const agent = { name: 'refund-bot' };
    const { body } = await test.owner.post('/tokens', { name: 'Refunds', agent, tools: ['pay.*'] });
    bot = new Client(test.url, body.token);
    await desk.begin();
    await desk.signIn();
  });
  afterAll(async () => {
    await desk?.close();
    await receiver.close();
  });
  beforeEach(() => desk.begin());

  /** What is wrong with the page as it is shown, on a phone and on a desk. */
  async function faults(): Promise<string[]> {
    const found: string[] = [];
    for (const size of [PHONE, DESK]) {
      await page.setViewportSize(size);
      const width = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
      if (width > 0) found.push(`${width} px too wide at ${size.width}`);
    }
    const text = await page.locator('body').innerText();
    if (!text.includes('<script>')) found.push('it does not show the content');
    const unseen = UNSEEN.exec(text);
    if (unseen) found.push(`it hides something: ${text.slice(Math.max(0, unseen.index - 60), unseen.index)}`);
    const made = page.locator(
      '#root img, body script:not([src]), a[href^="javascript:"], a[href^="data:"], iframe',
    );
    if ((await made.count()) > 0) found.push(`it made ${await made.first().evaluate(String)}`);
    if (await page.evaluate('globalThis.ran')) found.push('it ran');
    return [...found, ...desk.complaints];
  }

  it.each([PHONE, DESK])('is whole where it is approved, at %o', async (size) => {
    const command = `ls -la /tmp/report${' '.repeat(200)}; rm -rf /data\n\n${'\n'.repeat(80)}shutdown now`;
    const { body } = await bot.post('/action-requests', { tool: 'pay.run', params: { command } });
    await page.setViewportSize(size);
    await page.goto(`${test.url}/approvals/${body.approvalId}`);
    const field = page.getByLabel('command');
    await field.waitFor();
    expect(await field.inputValue()).toBe(command);
    const isWhole = await field.evaluate(
      (shown) => shown.scrollWidth <= shown.clientWidth && shown.scrollHeight <= shown.clientHeight,
    );
    expect(isWhole).toBe(true);
    await page.setViewportSize(DESK);
  });

  it('of an agent is shown as it is, where it asks and where it is decided', async () => {
    const params = { amount: 9, customer: SEEN, note: `${SEEN} ${LONG_WORD.slice(0, 20_000)}` };
    const asked = await bot.post('/action-requests', { tool: 'pay.refund', params, reason: SEEN });
    expect(asked.status, asked.text).toBeLessThan(300);
    await page.goto(`${test.url}/approvals/${asked.body.approvalId}`);
    await page.getByLabel('customer').waitFor();
    expect(await faults()).toEqual([]);
    expect(await page.getByLabel('customer').inputValue()).toBe(SEEN);
    expect(await page.getByText('👩‍👩‍👧').count()).toBeGreaterThan(0);
  });

  it('of a directive with a word of 100 KB does not widen the page', async () => {
    const id = await desk.handIn(
      `Email jane@acme.example, subject "Tea": "${SEEN} ${LONG_WORD.slice(0, 18_000)}"`,
    );
    await page.goto(`${test.url}/approvals/${id}`);
    await page.getByRole('button', { name: 'Reject' }).waitFor();
    expect(await faults()).toEqual([]);
  });

  it.each([
    ['the inbox', '/', 'Choose one to read it.'],
    ['an approval', '/approvals/:approval', 'It has characters that cannot be seen'],
    ['a question', '/approvals/:question', 'It has characters that cannot be seen'],
    ['directives', '/directives', 'Hand in'],
    ['a directive', '/directives/:directive', 'Work packets'],
    ['sent and done', '/sent', 'Sent and done'],
    ['escalations', '/escalations', 'since'],
    ['safety', '/guardian', 'Take a checkpoint'],
    ['the boss', '/overview?view=boss', 'Your comment'],
    ['a capo', '/overview?view=capo', 'Acknowledge'],
    ['an auditor', '/overview?view=auditor', 'Earlier checks of'],
    ['a receipt', '/overview?view=auditor&receipt=:receipt', 'What else it records'],
    ['a decided approval', '/approvals/:decided', 'Approved by'],
    ['tokens', '/settings/api', 'Revoke'],
    ['workspaces', '/workspaces', 'Make the workspace'],
    ['the account', '/account', 'this browser'],
  ])('in every text of %s is shown, never run', async (_name, path, awaited) => {
    const ids = await seeded();
    await poison(page);
    await page.goto(test.url + path.replace(/:(\w+)/, (_, name: string) => ids[name]!));
    await page
      .getByText(awaited)
      .or(page.getByRole('button', { name: awaited }))
      .first()
      .waitFor();
    const shown = await faults();
    await page.unrouteAll({ behavior: 'wait' });
    expect(shown).toEqual([]);
  });

  it.each([
    ['people', '/people', 'Members'],
    ['standing orders', '/orders', 'Write a standing order'],
    ['a standing order', '/orders/:order', 'Versions'],
    ['agents and tools', '/agents', 'Tools'],
    ['schedules', '/schedules', 'Run now'],
    ['the Daily Report', '/report', 'Add the section'],
    ['connections', '/connections', 'Send a test'],
    ['the service', '/service', 'Test the model'],
  ])('in every text of %s, with words of 100 KB, is shown, never run', async (_name, path, awaited) => {
    const ids = await seeded();
    await poison(page, `${HOSTILE} ${LONG_WORD}`);
    await page.goto(test.url + path.replace(/:(\w+)/, (_, name: string) => ids[name]!));
    await page
      .getByText(awaited)
      .or(page.getByRole('button', { name: awaited }))
      .first()
      .waitFor();
    const shown = await faults();
    await page.unrouteAll({ behavior: 'wait' });
    expect(shown).toEqual([]);
  });

  it('in the plan of a revert, its dialog, and the dialog of an undo is shown, never run', async () => {
    const { note } = await seeded();
    await poison(page, `${HOSTILE} ${LONG_WORD}`);
    await page.goto(`${test.url}/guardian`);
    await page.getByLabel('How').selectOption('compensate');
    const checkpoint = page.getByLabel('To which checkpoint');
    await eventually(
      () => checkpoint.locator('option').count(),
      (count) => count > 1,
    );
    // The oldest one, before which nothing was carried out.
    await checkpoint.selectOption({ index: (await checkpoint.locator('option').count()) - 1 });
    await page.getByRole('button', { name: 'Show the plan' }).click();
    await page.getByRole('heading', { name: 'The plan' }).waitFor();
    expect(await page.getByRole('status').getByRole('listitem').count()).toBeGreaterThan(0);
    expect(await faults()).toEqual([]);
    await page.getByRole('button', { name: 'Carry out this plan' }).click();
    await page.getByRole('dialog').getByLabel('Type REVERT').waitFor();
    expect(await faults()).toEqual([]);
    await page.goto(`${test.url}/directives/${note}`);
    await page.getByRole('button', { name: /^Undo/ }).click();
    await page.getByRole('dialog').getByLabel('Why').fill(HOSTILE);
    const shown = await faults();
    await page.unrouteAll({ behavior: 'wait' });
    expect(shown).toEqual([]);
  });

  it('in the key and the codes of a second factor is shown, never run', async () => {
    await page.goto(`${test.url}/account`);
    const answer = (json: object) => (route: Route) =>
      route.request().method() === 'POST' ? route.fulfill({ json }) : route.fallback();
    await page.route('**/api/admin/second-factor', answer({ secret: HOSTILE, uri: `javascript:${RUNS}` }));
    await page.route('**/second-factor/confirm', answer({ recoveryCodes: [HOSTILE, LONG_WORD] }));
    await page.getByLabel('Your password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Set up' }).click();
    await page.getByLabel('Code from your authenticator').fill('123456');
    expect(await faults()).toEqual([]);
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('button', { name: 'I have saved them' }).waitFor();
    const shown = await faults();
    await page.unrouteAll({ behavior: 'wait' });
    expect(shown).toEqual([]);
  });

  it('would find nothing that it may run', async () => {
    const answer = await page.goto(test.url);
    const policy = (await answer!.allHeaders())['content-security-policy']!;
    expect(policy).not.toMatch(/unsafe|data:|blob:|https?:|\*/);
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(desk.complaints).toEqual([]);
  });

  it('would find no token in what the page keeps, shows or logs', async () => {
    const said: string[] = [];
    page.on('console', (message) => said.push(message.text()));
    const asked = page.waitForRequest((request) => request.headers()['x-service-token'] !== undefined);
    await page.goto(test.url);
    const token = (await asked).headers()['x-service-token']!;
    expect(token).toMatch(/^cons_/);
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    const kept = await page.evaluate(
      `indexedDB.databases().then((databases) => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, databases, document.cookie, location.href, document.documentElement.outerHTML]))`,
    );
    const cookies = JSON.stringify(await page.context().cookies());
    for (const place of [kept, cookies, said.join(), JSON.stringify(test.logs)])
      expect(place).not.toContain(token);
    expect(kept).toContain('[]');
  });

  it('is shown by the banner of a stop', async () => {
    await test.owner.post('/guardian/killswitch', { reason: SEEN });
    await page.goto(`${test.url}/account`);
    await page.getByText('Everything is stopped').waitFor();
    expect(await faults()).toEqual([]);
  });

  let ids: Record<string, string> | undefined;
  /** One of each thing that can be shown. */
  async function seeded(): Promise<Record<string, string>> {
    if (ids) return ids;
    const approval = await desk.handIn('Email jane@acme.example, subject "Tea": "At four."');
    const left = await desk.handIn('Email karl@acme.example, subject "Rent": "On Friday."');
    await test.owner.post(`/approvals/${left}/approve`);
    const { body } = await test.owner.get(`/approvals/${left}`);
    await test.owner.post('/guardian/checkpoint', { label: 'x' });
    const filed = await desk.handIn('File a note "Rent": "It is due on Friday."');
    await test.owner.post(`/approvals/${filed}/approve`);
    const note = (await test.owner.get(`/approvals/${filed}`)).body.directiveId;
    await eventually(
      async () => (await test.owner.get(`/directives/${note}`)).body.status,
      (status) => status === 'executed',
    );
    const order = await new OrderDesk(test).active(FILE_DOCUMENTS);
    await bot.post('/tools', { name: 'pay.refund', title: 'Refund', description: 'x', paramsSchema: {} });
    const directive = { text: 'File a note "Memo": "All is well."', capo: 'capo_ops' };
    await test.owner.post('/schedules', { name: 'Memo', directive, rule: { every: 'day', at: '09:00' } });
    await leaveReport(test.rows, test.workspaceId, '2026-01-05');
    const hook = { url: receiver.url, secret: 'x'.repeat(32), events: ['directive.executed'] };
    const hooked = await test.owner.post('/webhooks', hook);
    expect(hooked.status, hooked.text).toBe(201);
    await test.owner.post('/members', { email: 'jo@acme.example', role: 'operator' });
    await new EscalationDesk(test).open();
    await new SignalDesk(test).raise({});
    const { body: report } = await test.owner.get('/family/report');
    await test.owner.post('/family/comment', { reportId: report.reportId, body: 'Well done' });
    const answerSchema = {
      type: 'object',
      properties: { plan: { type: 'string', title: 'x', description: SEEN, default: SEEN } },
    };
    const question = await bot.post('/questions', { title: 'Which?', reason: SEEN, answerSchema });
    expect(question.status, question.text).toBeLessThan(300);
    ids = {
      approval,
      decided: left,
      receipt: body.receiptId,
      directive: body.directiveId,
      note,
      order,
      question: question.body.approvalId,
    };
    return ids;
  }
});
