import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually, type TestApp } from '../../support/test-app.js';
import { DashboardDesk, DESK, hasBrowser, PHONE } from './dashboard-desk.js';

const HOSTILE = '<img src=x onerror=alert(1)> [click](https://evil.example) \u202Egnp.exe';

describe.runIf(hasBrowser)('the chat', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;
  let approvalId: string;
  let directiveId: string;

  beforeAll(async () => {
    desk = await DashboardDesk.open();
    ({ test, page } = desk);
    await desk.begin();
    approvalId = await desk.handIn('Email karl@acme.example, subject "Rent": "It is due on Friday."');
    ({ directiveId } = (await test.owner.get(`/approvals/${approvalId}`)).body);
    await desk.signIn(`/directives/${directiveId}`);
  });
  beforeEach(() => desk.begin());
  afterAll(() => desk?.close());

  const chat = () => page.getByRole('region', { name: 'Chat', exact: true });
  const field = () => chat().getByLabel('Your message');
  const log = () => chat().getByRole('log');
  const isFocused = (of: ReturnType<typeof field>) => of.evaluate((element) => element.matches(':focus'));
  const say = async (message: string) => {
    await field().fill(message);
    await field().press('Enter');
  };
  const messages = () =>
    test.rows<{ author: string; body: string; intents: { intent: string; ids: string[] }[] }>(
      'select author, body, intents from chat_messages order by created_at, position',
    );

  it('is asked about the thing that is open, and leads to what its answer was made from', async () => {
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Control+j');
    await field().waitFor();
    expect(await isFocused(field())).toBe(true);
    await chat().getByLabel('About the directive that is open').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await say('Why does this wait?');
    await log().getByText('karl@acme.example').first().waitFor();
    await log().getByText('The directive (“Email karl').waitFor();
    expect(await chat().textContent()).not.toMatch(/[a-z]{2,4}_[0-9a-z]{26}/);
    const [asked, answer] = await messages();
    expect(asked).toMatchObject({ author: 'member', body: 'Why does this wait?' });
    expect(answer!.intents).toEqual([
      { intent: 'decision', ids: expect.arrayContaining([directiveId, approvalId]) },
    ]);
    expect(await desk.findingsEverywhere()).toEqual([]);
    await chat()
      .getByRole('button', { name: /^Open the approval “.*karl@acme.example/ })
      .click();
    await page.getByRole('textbox', { name: 'Subject' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/approvals/${approvalId}`);
    // It stays beside the page that it led to, and is about that now.
    await chat().getByLabel('About the approval that is open').waitFor();
    expect(desk.complaints).toEqual([]);
  });

  it('asks about nothing that is taken out', async () => {
    await chat().getByLabel('About the approval that is open').uncheck();
    await say('Why does this wait?');
    await log().getByText('I answer these questions').waitFor();
    expect((await messages()).at(-1)!.intents).toEqual([{ intent: 'help', ids: [] }]);
  });

  it('says what was sent, what failed, and who approved something, with the record to open', async () => {
    const sentId = await desk.handIn('Email eva@acme.example, subject "Tea": "At four."');
    expect((await test.owner.post(`/approvals/${sentId}/approve`)).status).toBe(200);
    const [sent] = await eventually(
      async () => (await test.owner.get('/audit-feed/sent')).body.items,
      (items) => items.length > 0,
    );
    await say('What was sent today?');
    await log().getByText('This went out today:').waitFor();
    await log().getByText('eva@acme.example').first().waitFor();
    const [packet] = await test.rows<{ work_packet_id: string }>(
      'select work_packet_id from work_packets where directive_id = $1',
      [sent.directiveId],
    );
    expect((await messages()).at(-1)!.intents).toEqual([{ intent: 'sent', ids: [packet!.work_packet_id] }]);
    await say('What failed today?');
    await log().getByText('Nothing failed today').waitFor();
    await say('Who approved "Tea"?');
    await log().getByText('approved by Mira').waitFor();
    expect((await messages()).at(-1)!.intents).toMatchObject([
      { intent: 'approved', ids: expect.arrayContaining([sentId]) },
    ]);
    expect(desk.complaints).toEqual([]);
  });

  it('asks back, and hands in what a person confirms', async () => {
    const directives = () => test.rows('select text from directives order by created_at desc');
    expect(await directives()).toHaveLength(2);
    await say('Email jane@acme.example, subject "Your order": "It ships on Friday."');
    await log().getByText('Shall I hand this in').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    expect(await directives()).toHaveLength(2);
    await chat().getByRole('button', { name: 'Yes, hand it in' }).click();
    await log().getByText('Handed in:').waitFor();
    expect(await chat().getByRole('button', { name: 'Yes, hand it in' }).count()).toBe(0);
    const all = await directives();
    expect(all).toHaveLength(3);
    expect(all[0]).toEqual({ text: 'Email jane@acme.example, subject "Your order": "It ships on Friday."' });
    expect(desk.complaints).toEqual([]);
  });

  it('shows what is said as it is, and runs none of it', async () => {
    await say(`Directive: ${HOSTILE}`);
    await log().getByText('<img src=x').first().waitFor();
    expect(await chat().locator('img, a').count()).toBe(0);
    await chat().getByRole('button', { name: 'No', exact: true }).click();
    await log().getByText('Nothing was handed in.').waitFor();
    expect(desk.complaints).toEqual([]);
  });

  it('keeps what is typed and said through a reload, and closes by Escape', async () => {
    await field().fill('What waits');
    await page.reload();
    await log().getByText('Nothing was handed in.').waitFor();
    expect(await field().inputValue()).toBe('What waits');
    await field().press('Escape');
    await chat().waitFor({ state: 'detached' });
    const button = page.getByRole('button', { name: 'Chat', exact: true });
    expect(await button.evaluate((element) => element.matches(':focus'))).toBe(true);
    await button.press('Enter');
    expect(await field().inputValue()).toBe('What waits');
    await chat().getByRole('button', { name: 'New conversation' }).click();
    await chat().getByText('Earlier conversations').click();
    await chat().getByRole('button', { name: 'Why does this wait?' }).click();
    await log().getByText('Handed in:').waitFor();
  });

  it('leads to the pages that a question names which it cannot answer', async () => {
    await say('How do I change when the daily report comes, and invite a colleague?');
    await log().getByText('Pages about this: People, Daily Report').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await log().getByRole('link', { name: 'Daily Report' }).click();
    await page.getByRole('heading', { name: 'Daily Report', level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole('textbox', { name: 'Subject' }).waitFor();
    expect(desk.complaints).toEqual([]);
  });

  it('opens from the palette, and takes the place of the page on a phone, under the kill switch', async () => {
    await page.getByRole('button', { name: 'Close the chat' }).click();
    await page.setViewportSize(PHONE);
    await page.keyboard.press('Control+k');
    await page.getByLabel('Page, command or id').fill('Chat');
    await page.keyboard.press('Enter');
    await field().waitFor();
    expect(await page.getByRole('textbox', { name: 'Subject' }).isVisible()).toBe(false);
    expect(await page.getByRole('button', { name: /^Stop/ }).isVisible()).toBe(true);
    const { width } = (await chat().boundingBox())!;
    expect(width).toBeGreaterThan(PHONE.width - 40);
    await chat()
      .getByRole('button', { name: /^Open the directive “Email karl/ })
      .first()
      .click();
    await chat().waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/directives/${directiveId}`);
    await page.setViewportSize(DESK);
    expect(desk.complaints).toEqual([]);
  });

  it('is not offered to a viewer, who may not ask', async () => {
    await test.rows(`update members set role = 'viewer' where workspace_id = $1`, [test.workspaceId]);
    await page.reload();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.getByRole('button', { name: 'Chat', exact: true }).count()).toBe(0);
  });
});
