import type { CDPSession, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Client } from '../../support/client.js';
import { eventually, type TestApp } from '../../support/test-app.js';
import { DashboardDesk, DESK, hasBrowser } from './dashboard-desk.js';

/** Two lists, texts and numbers that would read the same if nothing told them apart. */
const LITERALS = {
  args: ['push', '--dry-run, --force'],
  dryRun: 'true',
  force: true,
  count: '7',
  seats: 7,
  none: null,
  empty: '',
  list: [],
};

const APPROVE_HAS_FOCUS = `document.activeElement.matches('[aria-keyshortcuts="a"]')`;

describe.runIf(hasBrowser)('one press', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;
  let bot: Client;
  let cdp: CDPSession;

  beforeAll(async () => {
    desk = await DashboardDesk.open();
    ({ test, page } = desk);
    const agent = { name: 'crm-bot' };
    const made = await test.owner.post('/tokens', { name: 'Runs', agent, tools: ['crm.*'] });
    expect(made.status, made.text).toBe(201);
    bot = new Client(test.url, made.body.token);
    const wipe = { name: 'crm.wipe', title: 'Wipe', risk: 'critical', reversibility: 'irreversible' };
    expect(
      (
        await test.owner.post('/tools', {
          ...wipe,
          paramsSchema: { type: 'object', properties: { what: {} } },
        })
      ).status,
    ).toBe(201);
    cdp = await page.context().newCDPSession(page);
    await desk.signIn();
  });
  afterAll(() => desk?.close());
  beforeEach(() => desk.begin());
  afterEach(() => page.unrouteAll({ behavior: 'ignoreErrors' }));

  const approvalOf = async (id: string) => (await test.owner.get(`/approvals/${id}`)).body;
  const statusOf = async (id: string) => (await approvalOf(id)).status;
  const mail = (name: string, text = 'Short.') =>
    desk.handIn(`Email ${name}@acme.example, subject "About ${name}": "${text}"`);
  const ask = async (tool: string, params: object): Promise<string> => {
    const asked = await bot.post('/action-requests', { tool, params });
    expect(asked.status, asked.text).toBe(201);
    return asked.body.approvalId;
  };
  const edit = async (id: string, change: object) => {
    const { kind, contentHash, packets } = await approvalOf(id);
    const [{ workPacketId, action }] = packets;
    const params = { ...action.params, ...change };
    const body = kind === 'action' ? { params } : { packets: [{ workPacketId, params }] };
    const edited = await test.owner.send('PATCH', `/approvals/${id}`, body, {
      'If-Match': `"${contentHash}"`,
    });
    expect(edited.status, edited.text).toBe(200);
  };
  const rejectAll = async (ids: readonly string[]) => {
    for (const id of ids) await test.owner.post(`/approvals/${id}/reject`, { feedback: 'Seen.' });
  };
  const approve = () => page.getByRole('button', { name: 'Approve', exact: true });
  /** Each has a moment in which nothing is decided, after which the button is there to be pressed. */
  const shown = async (name: string) => {
    await page.getByRole('heading', { level: 1, name: new RegExp(name) }).waitFor();
    await page.locator('[aria-keyshortcuts="a"]:enabled').waitFor();
  };

  describe('of many', () => {
    it('approves what the dialog shows, and not what became of it while it was open', async () => {
      const ids = [await mail('ada'), await mail('bea'), await mail('cyd')];
      await page.goto(test.url);
      for (const name of ['ada', 'bea', 'cyd'])
        await page.getByRole('checkbox', { name: new RegExp(name) }).check();
      // Changed after it was ticked: the list and the dialog say so.
      await edit(ids[1]!, { subject: 'Wire it', to: ['eve@evil.example'] });
      await page.getByRole('link', { name: /A mail to eve@evil\.example: “Wire it”/ }).waitFor();
      await page.getByRole('button', { name: 'Decide 3 at once' }).click();
      const dialog = page.getByRole('dialog');
      for (const text of ['About ada', 'eve@evil.example', 'Wire it', 'Changed by'])
        await dialog.getByText(text).first().waitFor();
      // Changed while it is open: the dialog stays as it is, and that one is not decided.
      await edit(ids[2]!, { body: 'Pay 90,000 EUR.' });
      await eventually(
        () => page.getByRole('listitem').filter({ hasText: 'cyd' }).count(),
        (count) => count > 0,
      );
      expect(await dialog.locator('dd', { hasText: 'Short.' }).count()).toBe(3);
      expect(await desk.findingsEverywhere()).toEqual([]);
      await dialog.getByRole('button', { name: 'Approve 3' }).click();
      await dialog.getByText('2 of 3 decided.').waitFor();
      expect(await dialog.getByRole('listitem').allTextContents()).toEqual([expect.stringContaining('cyd')]);
      expect(await Promise.all(ids.map(statusOf))).toEqual(['approved', 'approved', 'pending']);
      await page.getByRole('button', { name: 'Close' }).click();
      await rejectAll([ids[2]!]);
      expect(desk.complaints).toEqual([]);
    });

    it('rejects what the dialog shows, and not what became of it while it was open', async () => {
      const ids = [await mail('deb'), await mail('elu')];
      await page.goto(test.url);
      for (const name of ['deb', 'elu']) await page.getByRole('checkbox', { name: new RegExp(name) }).check();
      await page.getByRole('button', { name: 'Decide 2 at once' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('About elu').first().waitFor();
      await edit(ids[1]!, { body: 'The right text now.' });
      await dialog.getByLabel('Reason for rejecting').fill('Too short.');
      await dialog.getByRole('button', { name: 'Reject 2' }).click();
      await dialog.getByText('1 of 2 decided.').waitFor();
      expect(await Promise.all(ids.map(statusOf))).toEqual(['rejected', 'pending']);
      await page.getByRole('button', { name: 'Close' }).click();
      await rejectAll([ids[1]!]);
      expect(desk.complaints).toEqual([]);
    });

    it('shows every parameter of an agent, before which nothing can be approved', async () => {
      const ids = [await ask('crm.run', LITERALS), await ask('crm.export', { to: 'eve@evil.example' })];
      await page.goto(test.url);
      let read = () => {};
      const isAllowed = new Promise<void>((resolve) => (read = resolve));
      await page.route('**/api/pro/approvals/contents*', async (route) => {
        await isAllowed;
        await route.continue();
      });
      await page.getByRole('checkbox').nth(1).waitFor();
      for (const box of await page.getByRole('checkbox').all()) await box.check();
      await page.getByRole('button', { name: 'Decide 2 at once' }).click();
      await page.getByText('Reading what would leave.').waitFor();
      expect(await page.getByRole('button', { name: 'Approve 2' }).isDisabled()).toBe(true);
      read();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('eve@evil.example').waitFor();
      await page.unroute('**/api/pro/approvals/contents*');
      expect(await dialog.getByText('--dry-run, --force').innerText()).toBe(
        JSON.stringify(LITERALS.args, null, 2),
      );
      expect(await desk.findingsEverywhere()).toEqual([]);
      await dialog.getByLabel('Reason for rejecting').fill('Not now.');
      await page.getByRole('button', { name: 'Reject 2' }).click();
      await dialog.getByText('2 of 2 decided.').waitFor();
      expect(await Promise.all(ids.map(statusOf))).toEqual(['rejected', 'rejected']);
      await page.getByRole('button', { name: 'Close' }).click();
      expect(desk.complaints).toEqual([]);
    });
  });

  describe('of a key', () => {
    it('that is held or pressed again decides nothing that nobody has touched', async () => {
      const ids = [await mail('dan'), await mail('eli'), await mail('fay')];
      await page.goto(`${test.url}/approvals/${ids[0]}`);
      await shown('dan');
      await page.keyboard.down('a');
      await shown('eli|fay');
      const second = page.url().includes(ids[1]!) ? ids[1]! : ids[2]!;
      for (let n = 0; n < 40; n++) await page.keyboard.down('a');
      await page.keyboard.up('a');
      for (let n = 0; n < 3; n++) await page.keyboard.press('a');
      await page.keyboard.press('Shift');
      await page.keyboard.press('a');
      expect(page.url()).toContain(second);
      const others = ids.slice(1);
      expect(await Promise.all(others.map(statusOf))).toEqual(['pending', 'pending']);
      expect(await statusOf(ids[0]!)).toBe('approved');
      // It was read: any other key, the wheel or the pointer says so.
      await page.mouse.move(900, 300);
      await page.mouse.wheel(0, 1);
      await page.keyboard.press('a');
      await page.waitForURL((url) => !url.pathname.endsWith(second));
      expect((await Promise.all(others.map(statusOf))).toSorted()).toEqual(['approved', 'pending']);
      await rejectAll(others);
      expect(desk.complaints).toEqual([]);
    });

    it('leads to the end of what is longer than the screen, where Enter approves, once', async () => {
      const ids = [
        await mail('gil', `Long.${'\n'.repeat(60)}The end.`),
        await mail('hal', `Long.${'\n'.repeat(60)}The end.`),
      ];
      await page.goto(`${test.url}/approvals/${ids[0]}`);
      await shown('gil');
      await page.keyboard.press('a');
      await page.keyboard.press('a');
      expect(await page.evaluate(APPROVE_HAS_FOCUS)).toBe(true);
      expect((await approve().boundingBox())!.y).toBeLessThan(DESK.height);
      expect(await statusOf(ids[0]!)).toBe('pending');
      await page.keyboard.down('Enter');
      await shown('hal');
      for (let n = 0; n < 20; n++) await page.keyboard.down('Enter');
      await page.keyboard.up('Enter');
      await page.keyboard.press('a');
      expect(await page.evaluate('document.activeElement === document.body')).toBe(true);
      expect(await page.evaluate('scrollY')).toBe(0);
      expect(await Promise.all(ids.map(statusOf))).toEqual(['approved', 'pending']);
      await rejectAll([ids[1]!]);
      expect(desk.complaints).toEqual([]);
    });

    it('leads to Approve alone where the risk is critical', async () => {
      const id = await ask('crm.wipe', { what: 'all' });
      await page.goto(`${test.url}/approvals/${id}`);
      await shown('wipe|Wipe');
      await page.keyboard.press('a');
      await page.keyboard.press('a');
      expect(await page.evaluate(APPROVE_HAS_FOCUS)).toBe(true);
      expect(await statusOf(id)).toBe('pending');
      await page.keyboard.press('Enter');
      await page.getByText('Nothing waits for you').waitFor();
      expect(await statusOf(id)).toBe('approved');
      expect(desk.complaints).toEqual([]);
    });
  });

  it('is told apart by type, and an edit sends back what nobody touched as it was', async () => {
    const id = await ask('crm.run', LITERALS);
    await page.goto(`${test.url}/approvals/${id}`);
    await page.getByLabel('args JSON').waitFor();
    const labels = await page.locator('article fieldset label').allInnerTexts();
    const boxes = page.locator('article fieldset textarea');
    const values = labels.map((_label, at) => boxes.nth(at).inputValue());
    const fields = (await Promise.all(values)).map((value, at) => [labels[at]!.trim(), value]);
    expect(Object.fromEntries(fields)).toEqual({
      'args JSON': JSON.stringify(LITERALS.args, null, 2),
      'dryRun text': 'true',
      'force JSON': 'true',
      'count text': '7',
      'seats number': '7',
      'none JSON': 'null',
      'empty empty text': '',
      'list JSON': '[]',
    });
    await page.getByLabel('list JSON').fill('[1, ');
    await page.getByText('This is not valid JSON.').waitFor();
    expect(await page.getByLabel('list JSON').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('list JSON').fill('["a, b"]');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await approve().waitFor();
    expect((await approvalOf(id)).packets[0].action.params).toEqual({ ...LITERALS, list: ['a, b'] });
    await rejectAll([id]);
    expect(desk.complaints).toEqual([]);
  });

  it('shows after a reload what was changed of an agent’s parameters since they were read', async () => {
    const id = await ask('crm.run', LITERALS);
    await page.goto(`${test.url}/approvals/${id}`);
    await page.getByLabel('args JSON').waitFor();
    await approve().waitFor();
    await edit(id, { count: '8' });
    await page.reload();
    const changed = page.getByRole('alert', { name: 'Changed meanwhile' });
    await changed.waitFor();
    expect(await changed.getByRole('term').allInnerTexts()).toEqual(['count']);
    expect(await changed.locator('del').allInnerTexts()).toEqual(['7']);
    expect(await changed.locator('ins').allInnerTexts()).toEqual(['8']);
    await rejectAll([id]);
    expect(desk.complaints).toEqual([]);
  });

  it('marks blanks that are no spaces', async () => {
    const id = await ask('crm.run', { customer: `ok@acme.example\u2800\u1680 eve@evil.example` });
    await page.goto(`${test.url}/approvals/${id}`);
    await page.getByText('ok@acme.example[U+2800][U+1680] eve@evil.example').first().waitFor();
    await rejectAll([id]);
    expect(desk.complaints).toEqual([]);
  });

  it('says what a person can do where something else answered', async () => {
    const id = await mail('ida');
    await page.goto(`${test.url}/approvals/${id}`);
    await shown('ida');
    const answer = { status: 200, contentType: 'text/html', body: '<p>Sign in to the hotel</p>' };
    await page.route('**/approve', (route) => route.fulfill(answer));
    await approve().click();
    await page.getByRole('alert').getByText('Check whether it was done').waitFor();
    expect(await page.getByText('baseUrl').count()).toBe(0);
    await page.unroute('**/approve');
    await rejectAll([id]);
  });

  describe('on a slow machine', () => {
    beforeAll(() => cdp.send('Emulation.setCPUThrottlingRate', { rate: 20 }));
    afterAll(() => cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 }));

    const count = async (table: string) =>
      Number((await test.rows(`select count(*) as count from ${table}`))[0]!['count']);
    /** Two clicks, so long apart, wherever the button is at the first one. */
    const twice = async (button: ReturnType<Page['getByRole']>, apart: number) => {
      await button.click({ trial: true });
      const box = (await button.boundingBox())!;
      const at = { x: box.x + box.width / 2, y: box.y + box.height / 2, button: 'left' as const };
      const click = (clickCount: number) => [
        cdp.send('Input.dispatchMouseEvent', { type: 'mousePressed', ...at, clickCount }),
        cdp.send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...at, clickCount }),
      ];
      const first = click(1);
      await new Promise((resolve) => setTimeout(resolve, apart));
      await Promise.all([...first, ...click(2)]);
      // What the second one began would be on its way.
      await page.waitForTimeout(1_000);
    };

    it.each([40, 140])('hands in once by two clicks %i ms apart', async (apart) => {
      await page.goto(`${test.url}/directives`);
      await page.getByLabel('What should be done').fill(`File a note "Twice": "By ${apart}."`);
      await page.getByText('You are asked before it leaves.').waitFor();
      const before = await count('directives');
      await twice(page.getByRole('button', { name: 'Hand in' }), apart);
      await page.waitForURL('**/approvals/*');
      expect(await count('directives')).toBe(before + 1);
    });

    it.each([40, 140])('runs a schedule once by two clicks %i ms apart', async (apart) => {
      const made = await test.owner.post('/schedules', {
        name: `Memo ${apart}`,
        directive: { text: 'File a note "Memo": "Well."', capo: 'capo_ops' },
        rule: { every: 'week', on: 'mon', at: '09:00', timezone: 'Europe/Berlin' },
      });
      expect(made.status, made.text).toBe(201);
      await page.goto(`${test.url}/schedules`);
      await page.getByRole('button', { name: `Run now Memo ${apart}` }).click();
      const before = await count('directives');
      await twice(page.getByRole('dialog').getByRole('button', { name: 'Run now' }), apart);
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await count('directives')).toBe(before + 1);
    });

    it.each([40, 140])('makes a token once by two clicks %i ms apart', async (apart) => {
      await page.goto(`${test.url}/settings/api`);
      await page.getByLabel('Name of the token').fill(`Twice ${apart}`);
      const before = await count('tokens');
      await twice(page.getByRole('button', { name: 'Make the token' }), apart);
      expect(
        await eventually(
          () => count('tokens'),
          (now) => now > before,
        ),
      ).toBe(before + 1);
    });
  });

  it('again after its answer was lost is the same press', async () => {
    await page.goto(`${test.url}/directives`);
    await page.getByLabel('What should be done').fill('File a note "Lost": "Once."');
    const keys: string[] = [];
    await page.route('**/api/pro/directive', async (route) => {
      keys.push(route.request().headers()['idempotency-key']!);
      await route.fetch();
      await route.abort('connectionreset');
    });
    await page.getByRole('button', { name: 'Hand in' }).click();
    await page.locator('.failure, .hand-in .quiet').first().waitFor();
    await page.getByRole('button', { name: 'Hand in' }).click({ trial: true });
    await page.unroute('**/api/pro/directive');
    await page.getByRole('button', { name: 'Hand in' }).click();
    await page.waitForURL('**/approvals/*');
    expect(new Set(keys).size).toBe(1);
    const [row] = await test.rows(`select count(*) as count from directives where text like '%"Lost"%'`);
    expect(Number(row!['count'])).toBe(1);
  });
});
