import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../support/client.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';
import { Desk, DOCUMENT } from '../directives/desk.js';
import { NO_MAIL, OrderDesk } from '../standing-orders/order-desk.js';

const MAIL = 'Email jane@acme.example, subject "Delivery": The delivery arrives on Friday.';

let test: TestApp;
let workspace: TestWorkspace;
let desk: Desk;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());
beforeEach(async () => {
  workspace = await test.createWorkspace();
  desk = new Desk(test, workspace.owner.token);
});

async function report(by: Client = workspace.owner, query = '') {
  const answer = await by.get(`/family/report${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

const markdown = (query = '') =>
  workspace.owner.send('GET', `/family/report${query}`, undefined, { Accept: 'text/plain' });

/** The day of one capo in a report. */
const dayOf = (body: { capos: { capo: string }[] }, capo: string) =>
  body.capos.find((each) => each.capo === capo) as any;

async function executed(text = DOCUMENT, more: object = {}): Promise<string> {
  await new OrderDesk(test).active(
    { name: 'Documents', effect: 'allow', match: { actionTypes: ['document.file'] } },
    workspace.owner,
  );
  const body = { directive: text, capo: 'capo_ops', requiresApproval: false, ...more };
  const { directiveId } = (await desk.client.post('/directives', body)).body;
  await desk.until(directiveId, 'executed');
  return directiveId;
}

describe('GET /family/report 200', () => {
  it('shows a day on which nothing happened', async () => {
    const body = await report();
    expect(body).toMatchObject({
      reportId: expect.stringMatching(/^rpt_[0-9a-z]{26}$/),
      timezone: 'UTC',
      teamId: null,
      partial: true,
      countsAreMinimum: false,
    });
    expect(body.capos.map(({ capo }: { capo: string }) => capo)).toEqual([
      'capo_marketing',
      'capo_revenue',
      'capo_ops',
      'capo_product',
      'ceo',
    ]);
    expect(dayOf(body, 'ceo')).toEqual({
      capo: 'ceo',
      name: 'CEO',
      sentence: 'CEO carried out nothing; nothing waits for you.',
      did: { packetsExecuted: 0, directivesExecuted: 0, packetsReverted: 0, items: [] },
      waits: { approvals: 0, items: [] },
      failed: { packetsFailed: 0, packetsDenied: 0, directivesFailed: 0, inAll: 0, items: [] },
      cost: [],
    });
  });

  it('says what each capo did, what waits, what failed and what it cost', async () => {
    const directiveId = await executed();
    await test.rows(
      `update directives set cost = '{"amount": 0.25, "currency": "USD", "tokensIn": 1, "tokensOut": 1}' where directive_id = $1`,
      [directiveId],
    );
    const { approvalId } = await desk.handInReady({ text: MAIL, capo: 'capo_ops' });
    await new OrderDesk(test).active(NO_MAIL, workspace.owner);
    const denied = await desk.client.post('/directives', {
      directive: MAIL,
      capo: 'capo_revenue',
      requiresApproval: false,
    });
    await desk.until(denied.body.directiveId, 'failed');
    const body = await report();
    const ops = dayOf(body, 'capo_ops');
    expect(ops.did).toMatchObject({ packetsExecuted: 1, directivesExecuted: 1, packetsReverted: 0 });
    const [receipt] = await test.rows<{ receipt_id: string; body: string }>(
      `select receipt_id, body from receipts where directive_id = $1 and action = 'packet.executed'`,
      [directiveId],
    );
    expect(ops.did.items).toEqual([
      {
        receiptId: receipt!.receipt_id,
        at: expect.stringMatching(/^\d{4}-.+Z$/),
        summary: JSON.parse(receipt!.body).summary,
      },
    ]);
    expect(ops.waits).toMatchObject({ approvals: 1, items: [{ approvalId, ready: true }] });
    expect(ops.cost).toEqual([{ currency: 'USD', amount: 0.25 }]);
    expect(ops.sentence).toBe(
      'Ops carried out 1 work packet; 1 approval waits for a decision. Its drafts cost 0.25 USD.',
    );
    const revenue = dayOf(body, 'capo_revenue');
    expect(revenue.failed).toMatchObject({ packetsDenied: 1, directivesFailed: 1 });
    expect(revenue.failed.items).toMatchObject([{ summary: expect.stringContaining('ended as failed') }]);
    expect(revenue.sentence).toContain('was denied 1 work packet');
  });

  it('has the same id each time, and another one for another day, workspace or team', async () => {
    const teamId = await test.createTeam(workspace.workspaceId, 'One');
    const other = await test.createWorkspace();
    const first = await report();
    expect((await report()).reportId).toBe(first.reportId);
    expect((await report(await test.createMember(workspace.workspaceId, 'admin'))).reportId).toBe(
      first.reportId,
    );
    const ids = [
      first.reportId,
      (await report(other.owner)).reportId,
      (await report(workspace.owner, `?teamId=${teamId}`)).reportId,
      (await report(await test.createMember(workspace.workspaceId, 'viewer'))).reportId,
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('writes nothing', async () => {
    const count = async () => (await test.rows('select count(*)::int as n from receipts'))[0];
    const before = await count();
    await report();
    expect(await count()).toEqual(before);
  });

  it('is a page of Markdown by Accept, in which the words of others stay words', async () => {
    await executed(
      'Write a document "For the board": "<script>alert(1)</script> [x](https://evil.example) **now** `y` # z"',
    );
    const answer = await markdown();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(answer.headers.get('vary')).toContain('Accept');
    expect(answer.text).toMatch(/^# The family's day: \d{4}-\d{2}-\d{2}\n/);
    for (const name of ['Marketing', 'Revenue', 'Ops', 'Product', 'CEO'])
      expect(answer.text).toContain(`\n## ${name}\n`);
    expect(answer.text).toContain('**What it did**');
    expect(answer.text).not.toMatch(/(?<!\\)(?:<|\]\()/);
  });

  it('lists five, and counts all', async () => {
    for (let n = 0; n < 7; n++) await desk.handInReady({ text: `${MAIL} ${n}`, capo: 'capo_marketing' });
    const { waits } = dayOf(await report(), 'capo_marketing');
    expect([waits.approvals, waits.items.length]).toEqual([7, 5]);
    const times = waits.items.map(({ requestedAt }: { requestedAt: string }) => requestedAt);
    expect(times).toEqual(times.toSorted());
    expect((await markdown()).text).toContain('- … and 2 more');
  });

  it('says how much more failed than it lists, what was denied too', async () => {
    const waiting = [];
    for (let n = 0; n < 4; n++)
      waiting.push(await desk.handInReady({ text: `${MAIL} ${n}`, capo: 'capo_ops' }));
    await new OrderDesk(test).active(NO_MAIL, workspace.owner);
    for (const { approvalId, directiveId } of waiting) {
      await desk.approve(approvalId);
      await desk.until(directiveId, 'failed');
    }
    const { failed } = dayOf(await report(), 'capo_ops');
    expect(failed).toMatchObject({ packetsFailed: 0, packetsDenied: 4, directivesFailed: 4, inAll: 8 });
    expect(failed.items).toHaveLength(5);
    const [, section] = (await markdown()).text.split('**What failed**');
    expect(section).toContain('- … and 3 more');
  });

  it('shows to a team what is its own, and to whoever is in none what has none', async () => {
    const { workspaceId } = workspace;
    const [one, two] = [await test.createTeam(workspaceId, 'One'), await test.createTeam(workspaceId, 'Two')];
    await desk.handInReady({ text: `${MAIL} one`, capo: 'capo_ops', teamId: one });
    await desk.handInReady({ text: `${MAIL} two`, capo: 'capo_ops', teamId: two });
    await desk.handInReady({ text: `${MAIL} none`, capo: 'capo_ops' });
    const waiting = async (by: Client, query = '') =>
      dayOf(await report(by, query), 'capo_ops').waits.items.map(({ title }: { title: string }) =>
        title.split(' ').at(-1),
      );
    const counted = async (by: Client, query = '') =>
      dayOf(await report(by, query), 'capo_ops').waits.approvals;
    expect(await waiting(workspace.owner)).toEqual(['one', 'two', 'none']);
    expect(await waiting(workspace.owner, `?teamId=${one}`)).toEqual(['one']);
    expect(await counted(workspace.owner, `?teamId=${one}`)).toBe(1);
    const inOne = await test.createMember(workspaceId, 'viewer', [one]);
    expect(await waiting(inOne)).toEqual(['one']);
    expect(await counted(inOne)).toBe(1);
    expect(await waiting(await test.createMember(workspaceId, 'viewer'))).toEqual(['none']);
    const inBoth = await test.createMember(workspaceId, 'viewer', [one, two]);
    expect((await inBoth.get('/family/report')).status).toBe(422);
    expect(await waiting(inBoth, `?teamId=${two}`)).toEqual(['two']);
    expect((await inOne.get(`/family/report?teamId=${two}`)).status).toBe(404);
  });
});

describe('the day', () => {
  const at = async (instant: string, zone: string, query = '') => {
    await test.rows(
      `update workspaces set timezone = $2, created_at = '2000-01-01' where workspace_id = $1`,
      [workspace.workspaceId, zone],
    );
    test.clock.stop(Date.parse(instant));
    try {
      return await workspace.owner.get(`/family/report${query}`);
    } finally {
      test.clock.goOn();
    }
  };

  it.each([
    ['2026-02-18T23:30:00Z', 'Europe/Berlin', '2026-02-19'],
    ['2026-02-18T23:30:00Z', 'America/New_York', '2026-02-18'],
    ['2026-02-18T10:30:00Z', 'Pacific/Kiritimati', '2026-02-19'],
    ['2026-02-18T10:30:00Z', 'Pacific/Pago_Pago', '2026-02-17'],
    ['2026-02-18T18:29:00Z', 'Asia/Kolkata', '2026-02-18'],
    ['2026-02-18T18:30:00Z', 'Asia/Kolkata', '2026-02-19'],
    // The clock was set back from 00:01 to 23:01: the new day goes on.
    ['2010-11-07T02:45:00Z', 'America/St_Johns', '2010-11-07'],
  ])('at %s in %s is %s', async (instant, zone, date) => {
    const { body } = await at(instant, zone);
    expect(body).toMatchObject({ date, timezone: zone, partial: true });
  });

  it('is over when the next one begins', async () => {
    const before = await at('2026-03-28T22:59:59Z', 'Europe/Berlin', '?date=2026-03-28');
    const after = await at('2026-03-28T23:00:00Z', 'Europe/Berlin', '?date=2026-03-28');
    expect([before.body.partial, after.body.partial]).toEqual([true, false]);
  });

  it('holds what happened between its midnights, with an hour more or less', async () => {
    const { workspaceId } = workspace;
    // 25 October 2026 has 25 hours in Berlin: from 22:00Z the day before to 23:00Z.
    const times = [
      '2026-10-24T21:59:59.999Z',
      '2026-10-24T22:00:00Z',
      '2026-10-25T22:59:59.999Z',
      '2026-10-25T23:00:00Z',
    ];
    await executed();
    await test.rows('alter table receipts disable trigger all');
    await test.rows('delete from receipts where workspace_id = $1', [workspaceId]);
    for (const [n, time] of times.entries()) {
      await test.rows(
        `insert into receipts (workspace_id, seq, receipt_id, at, actor_type, actor_id, action, entity_type, entity_id, capo, body, prev_hash, hash)
         values ($1, $2, $3, $4, 'capo', 'capo_ops', 'packet.executed', 'work_packet', 'x', 'capo_ops', $5, $6, $7)`,
        [workspaceId, n + 1, `rcp_${n}`, time, JSON.stringify({ summary: `Act ${n}.` }), `${n}`, `${n + 1}`],
      );
    }
    await test.rows('alter table receipts enable trigger all');
    const ops = async (date: string) =>
      dayOf(
        (await at('2026-11-01T12:00:00Z', 'Europe/Berlin', `?date=${date}`)).body,
        'capo_ops',
      ).did.items.map(({ summary }: { summary: string }) => summary);
    expect(await ops('2026-10-24')).toEqual(['Act 0.']);
    expect(await ops('2026-10-25')).toEqual(['Act 2.', 'Act 1.']);
    expect(await ops('2026-10-26')).toEqual(['Act 3.']);
  });

  it.each([
    ['is to come', '2026-02-19T12:00:00Z', 'UTC', '2026-02-20'],
    ['lies before the workspace', '2026-02-19T12:00:00Z', 'UTC', '1999-12-31'],
    ['lies before all time', '2026-02-19T12:00:00Z', 'UTC', '0001-01-01'],
  ])('that %s is a 404', async (_what, instant, zone, date) => {
    expect((await at(instant, zone, `?date=${date}`)).status).toBe(404);
  });

  it('that the zone has left out is a 404, and its neighbours are there', async () => {
    await test.rows(
      `update workspaces set created_at = '2010-01-01', timezone = 'Pacific/Apia' where workspace_id = $1`,
      [workspace.workspaceId],
    );
    const status = async (date: string) => (await workspace.owner.get(`/family/report?date=${date}`)).status;
    expect([await status('2011-12-29'), await status('2011-12-30'), await status('2011-12-31')]).toEqual([
      200, 404, 200,
    ]);
  });
});

describe('GET /family/report 422, 406', () => {
  it.each([
    '2026-02-29',
    '2026-13-01',
    '2026-2-1',
    '18.02.2026',
    'today',
    '0000-01-01',
    '2026-02-18T00:00:00Z',
    '',
  ])('refuses the date %s', async (date) => {
    const answer = await workspace.owner.get(`/family/report?date=${encodeURIComponent(date)}`);
    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'VALIDATION_FAILED' } } });
  });

  it('has no other format', async () => {
    const answer = await workspace.owner.send('GET', '/family/report', undefined, { Accept: 'image/png' });
    expect(answer.status).toBe(406);
  });
});
