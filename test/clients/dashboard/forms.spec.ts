import type { Locator, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually, type TestApp } from '../../support/test-app.js';
import { MAIL_TO_ACME, OrderDesk } from '../../e2e/standing-orders/order-desk.js';
import { DashboardDesk, hasBrowser } from './dashboard-desk.js';

const TYPED = 'Typed before the reload';

describe.runIf(hasBrowser)('forms', { timeout: 60_000 }, () => {
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

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const open = async (path: string) => {
    await page.goto(test.url + path);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
  };
  /** The fields that a form keeps. */
  const kept: [
    what: string,
    path: string,
    fill: () => Promise<unknown>,
    read: () => Locator,
    value: string,
  ][] = [
    [
      'an event of revenue',
      '/overview?view=boss',
      () => page.getByLabel('From whom').fill(TYPED),
      () => page.getByLabel('From whom'),
      TYPED,
    ],
    [
      'the set-up of the workspace',
      '/',
      () => page.getByLabel('Signature').fill(TYPED),
      () => page.getByLabel('Signature'),
      TYPED,
    ],
    [
      'what one is mailed',
      '/account',
      () => page.getByLabel('Daily Report').selectOption('none'),
      () => page.getByLabel('Daily Report'),
      'none',
    ],
    [
      'the quiet hours of one’s own',
      '/account',
      () => page.getByLabel('Quiet until').fill('07:00'),
      () => page.getByLabel('Quiet until'),
      '07:00',
    ],
    [
      'a tool of an agent’s token',
      '/settings/api',
      async () => {
        await page.getByLabel('For an agent').check();
        await page.getByLabel('Its tools').fill(TYPED);
      },
      () => page.getByLabel('Its tools'),
      TYPED,
    ],
  ];

  it.each(kept)('keep %s through a reload', async (_what, path, fill, read, value) => {
    const unfold = async () => {
      if (path.includes('boss')) await page.getByText('Record revenue').click();
    };
    await open(path);
    await unfold();
    await fill();
    await page.reload();
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await read().waitFor({ state: 'attached' });
    await unfold();
    await read().waitFor();
    expect(await read().inputValue()).toBe(value);
    await page.evaluate('sessionStorage.clear()');
  });

  it('keep the change of a definition that is typed as JSON', async () => {
    const tool = {
      name: 'crm.note',
      title: null,
      description: null,
      risk: 'low',
      reversibility: 'reversible',
      paramsSchema: { type: 'object', properties: {} },
    };
    expect((await test.owner.post('/tools', tool)).status).toBe(201);
    const unfold = async () => {
      await page.getByText('Show crm.note').click();
      await page.getByText('Change crm.note').click();
    };
    await open('/agents');
    await unfold();
    const definition = page.getByLabel('Definition of crm.note');
    await definition.fill(TYPED);
    await page.reload();
    await unfold();
    expect(await definition.inputValue()).toBe(TYPED);
  });

  it('keep what is typed about one of two people of the same name apart', async () => {
    const member = async () => (await test.createMember(test.workspaceId, 'viewer')).memberId;
    const ids = [await member(), await member()];
    await test.rows(
      `update users set display_name = 'Alex Kim' where user_id in (select user_id from members where member_id = any ($1))`,
      [ids],
    );
    await open('/people');
    const change = page.getByRole('button', { name: 'Change the role of Alex Kim' });
    await change.first().click();
    const role = page.getByRole('dialog').getByLabel('Role in the workspace');
    await role.selectOption('admin');
    await page.keyboard.press('Escape');
    await role.waitFor({ state: 'detached' });
    await change.last().click();
    expect(await role.inputValue()).toBe('viewer');
    await page.keyboard.press('Escape');
  });

  describe('of quiet hours', () => {
    const faultOf = (field: Locator): Promise<string> =>
      field.evaluate((input) => (input as unknown as { validationMessage: string }).validationMessage);
    const settings = async (): Promise<Record<string, any>> => (await test.owner.get('/settings')).body;

    it.each([
      ['/settings', 'Save mails and quiet hours'],
      ['/account', 'Save what is mailed'],
    ])('on %s refuse one time without the other, at its field', async (path, save) => {
      await test.owner.put('/settings', { quietHours: { from: '22:00', to: '07:00' } });
      await open(path);
      const until = page.getByLabel('Quiet until');
      await until.waitFor();
      const sent: string[] = [];
      const count = (request: { method: () => string; url: () => string }) => {
        if (request.method() === 'PUT') sent.push(request.url());
      };
      page.on('request', count);
      await until.fill('');
      await press(save);
      expect(await faultOf(until)).toBe('Give both times, or neither.');
      // As it is after a reload, too.
      await page.reload();
      await until.waitFor();
      await press(save);
      expect(await faultOf(until)).not.toBe('');
      await page.getByLabel('Quiet from').fill('');
      expect(await faultOf(until)).toBe('');
      expect(sent).toEqual([]);
      page.off('request', count);
      await page.evaluate('sessionStorage.clear()');
      expect((await settings())['quietHours']).toEqual({ from: '22:00', to: '07:00' });
    });

    it('are refused by the service too, which names the field', async () => {
      for (const half of [{ from: '22:00' }, { from: '22:00', to: '' }]) {
        for (const path of ['/settings', '/profile/notifications']) {
          const { status, body } = await test.owner.put(path, { quietHours: half });
          expect([path, status, body.error.details[0].path]).toEqual([path, 422, 'quietHours.to']);
        }
      }
    });
  });

  it('of a hand-in show the forecast of the text that stands there, and let nothing go upon another', async () => {
    await new OrderDesk(test).active(MAIL_TO_ACME);
    await open('/directives');
    const text = page.getByLabel('What should be done');
    const handIn = page.getByRole('button', { name: 'Hand in' });
    await text.fill('Email lia@acme.example, subject "Tea": "At four."');
    await page.getByText('Nobody is asked').waitFor();
    expect(await handIn.isEnabled()).toBe(true);
    let answer: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/preflight', async (route) => {
      await held;
      await route.continue();
    });
    await text.fill('Email lia@elsewhere.example, subject "Tea": "At four."');
    expect(await page.getByText('Nobody is asked').count()).toBe(0);
    expect(await handIn.isEnabled()).toBe(false);
    // A person decides about it in any case: that needs no forecast.
    await page.getByLabel('Ask a person even').check();
    expect(await handIn.isEnabled()).toBe(true);
    await page.getByLabel('Ask a person even').uncheck();
    answer();
    await page.getByText('You are asked before it leaves.').waitFor();
    expect(await handIn.isEnabled()).toBe(true);
    await page.unroute('**/preflight');
    expect(await desk.findingsEverywhere()).toEqual([]);
    // Without a forecast a person is asked.
    await page.route('**/preflight', (route) => route.fulfill({ status: 404, json: {} }));
    await text.fill('Email ina@acme.example, subject "Tea": "At four."');
    await page.getByText('Without a forecast, you are asked').waitFor();
    await handIn.click();
    await page.waitForURL('**/approvals/apr_*');
    await page.unroute('**/preflight');
    // Where a model drafts, the forecast is a guess: the orders decide about the draft, and the page says so.
    await page.route('**/bootstrap', async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      await route.fulfill({ response, json: { ...body, features: { ...body.features, model: true } } });
    });
    await open('/directives');
    await text.fill('Email ida@elsewhere.example, subject "Tea": "At four."');
    await page.getByText('If a standing order allows what the model drafts, it goes by itself').waitFor();
    await handIn.click();
    await page.waitForURL('**/directives/dir_*');
    await page.unroute('**/bootstrap');
    await page.evaluate('sessionStorage.clear()');
  });

  it('of a draft without work packets offer nothing to edit or approve', async () => {
    const id = await desk.handIn('Email jane@acme.example, subject "Tea": "At four."');
    await test.rows(`update approvals set packets = '[]', group_key = null where approval_id = $1`, [id]);
    await open(`/approvals/${id}`);
    await page.getByRole('button', { name: 'Reject' }).waitFor();
    await page.getByText('Nothing was prepared').waitFor();
    expect(await page.getByRole('textbox').count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    await test.owner.post(`/approvals/${id}/reject`, { feedback: 'Seen.' });
  });

  it('of a rejection name what was read: what was edited meanwhile is shown first', async () => {
    const id = await desk.handIn('Email jane@acme.example, subject "Tea": "At four."');
    await open(`/approvals/${id}`);
    const reject = page.getByRole('button', { name: 'Reject' });
    await page.getByLabel('What should be different, or why not').fill('Not today.');
    // The edit comes between what is shown and the press, so that no stream tells of it.
    const editFirst = async (route: Route) => {
      const { contentHash, packets } = (await test.owner.get(`/approvals/${id}`)).body;
      const { workPacketId, action } = packets[0];
      const edited = { packets: [{ workPacketId, params: { ...action.params, subject: 'Coffee' } }] };
      const answer = await test.owner.send('PATCH', `/approvals/${id}`, edited, { 'If-Match': contentHash });
      expect(answer.status, answer.text).toBe(200);
      await route.continue();
    };
    await page.route('**/reject', editFirst, { times: 1 });
    await reject.click();
    await page.locator('ins').filter({ hasText: 'Coffee' }).waitFor();
    expect((await test.owner.get(`/approvals/${id}`)).body.status).toBe('pending');
    expect(await reject.isEnabled()).toBe(false);
    expect(await page.getByLabel('What should be different, or why not').inputValue()).toBe('Not today.');
    await press('I have read the changes');
    await reject.click();
    await eventually(
      async () => (await test.owner.get(`/approvals/${id}`)).body.status,
      (status) => status === 'rejected',
    );
    desk.complaints.splice(0);
  });

  it('have lists beside them of which the rest can be read', async () => {
    await test.rows(
      `insert into tokens (token_id, workspace_id, member_id, name, token_hash, hint, created_at)
       select 'tok_' || lpad(n::text, 26, '0'), workspace_id, member_id, 'Program ' || n, md5(n::text) || md5(n::text), 'abcd', now() - n * interval '1 day'
       from members, generate_series(1, 120) n where role = 'owner' and workspace_id = $1 limit 120`,
      [test.workspaceId],
    );
    await open('/settings/api');
    await page.getByText(/^50 of 12\d$/).waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await press('Show more');
    await page.getByText(/^100 of 12\d$/).waitFor();
    await press('Show more');
    await page.getByText('Program 120', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
    expect(desk.complaints).toEqual([]);
  });

  it('have a report beside them that says how many it counts and does not list', async () => {
    await page.route('**/reports/daily*', async (route) => {
      const response = await route.fetch();
      const report = (await response.json()) as { sections: Record<string, unknown> };
      const items = [{ directiveId: 'dir_1', title: 'Tea', deadline: null }];
      await route.fulfill({
        response,
        json: { ...report, sections: { ...report.sections, tomorrowQueue: { total: 23, items } } },
      });
    });
    await open('/overview?view=boss');
    await page.getByText('And 22 more.').waitFor();
    await page.unroute('**/reports/daily*');
    expect(desk.complaints).toEqual([]);
  });
});
