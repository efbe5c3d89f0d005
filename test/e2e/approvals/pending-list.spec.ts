import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { growthRows } from '../../../bench/growth-rows.js';
import { Client } from '../../support/client.js';
import { leaveActionRequest } from '../action-requests/action-request-rows.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

const TABLES = ['directives', 'approvals'];
const ROWS = 120;

let test: TestApp;
let owner: Client;
let workspaceId: string;
beforeAll(async () => {
  test = await startTestApp();
  ({ workspaceId, owner } = await test.createWorkspace());
  for (const { table, text } of growthRows({ workspaceId, from: 1, to: ROWS })) {
    if (TABLES.includes(table)) await test.rows(text);
  }
  // All ways to be urgent or not, many of one time, and expiries in an order of their own.
  await test.rows(
    `update approvals set status = 'pending', decided_at = null,
       capo = case when n % 2 = 0 then 'capo_ops' else 'capo_product' end,
       priority = case when n % 7 = 0 then 'high' else 'low' end,
       risk = case when n % 11 = 0 then 'critical' when n % 13 = 0 then 'high' else 'low' end,
       requested_at = date_trunc('hour', now()) - (n / 4) * interval '1 minute',
       expires_at = now() + interval '110 minutes' + (n * 37 % 100) * interval '1 minute'
     from (select approval_id as id, right(approval_id, 4)::int as n from approvals) numbered where id = approval_id`,
  );
  // Half of those with a high risk are of agents, and are not urgent for it.
  const elsewhere = await test.createWorkspace();
  const { actionRequestId, approvalId } = await leaveActionRequest(elsewhere.owner);
  await test.rows('delete from approvals where approval_id = $1', [approvalId]);
  await test.rows(
    `insert into action_requests select (jsonb_populate_record(a, jsonb_build_object(
       'workspace_id', $1::text, 'action_request_id', 'act_1', 'approval_id', null))).*
     from action_requests a where action_request_id = $2`,
    [workspaceId, actionRequestId],
  );
  await test.rows(
    `update approvals set kind = 'action', action_request_id = 'act_1', directive_id = null
     where workspace_id = $1 and risk = 'high' and right(approval_id, 2) < '50'`,
    [workspaceId],
  );
});
afterAll(() => test.close());

/** From a new address each time: the limit of the route is not what is tested here. */
const read = (path: string) => new Client(owner.url, owner.token).get(path);

interface Item {
  approvalId: string;
  urgent: boolean;
  capo: string;
  requestedAt: number;
}

const inOrder = (items: Item[]) =>
  items.toSorted(
    (a, b) =>
      Number(b.urgent) - Number(a.urgent) ||
      a.requestedAt - b.requestedAt ||
      (a.approvalId < b.approvalId ? -1 : 1),
  );

async function whole(query = ''): Promise<Item[]> {
  const [first, second] = [
    (await read(`/approvals?limit=100${query}`)).body,
    (await read(`/approvals?limit=100&offset=100${query}`)).body,
  ];
  const items = [...first.items, ...second.items] as Item[];
  expect(first.total).toBe(items.length);
  return items;
}

async function pageByPage(limit: number, query: string): Promise<Item[]> {
  const items: Item[] = [];
  let cursor = '';
  do {
    const { status, text, body } = await read(`/approvals?limit=${limit}${query}${cursor}`);
    expect(status, text).toBe(200);
    items.push(...body.items);
    cursor = body.nextCursor && `&cursor=${body.nextCursor}`;
  } while (cursor);
  return items;
}

describe('GET /approvals: what is pending', () => {
  it.each(['', '&urgent=true', '&urgent=false', '&capo=capo_ops', '&capo=capo_ops&urgent=true'])(
    'is the same page by page as in one, urgent and oldest first: %s',
    async (query) => {
      const items = await whole(query);
      expect(items.length).toBeGreaterThan(10);
      expect(items).toEqual(inOrder(items));
      for (const limit of [7, 50]) {
        const paged = await pageByPage(limit, query);
        expect(paged.map(({ approvalId }) => approvalId)).toEqual(items.map(({ approvalId }) => approvalId));
      }
    },
  );

  it('divides into what is urgent and what is not', async () => {
    const items = await whole();
    expect(items).toHaveLength(ROWS);
    const ids = (some: Item[]) => some.map(({ approvalId }) => approvalId);
    expect(ids(await whole('&urgent=true'))).toEqual(ids(items.filter(({ urgent }) => urgent)));
    expect(ids(await whole('&urgent=false'))).toEqual(ids(items.filter(({ urgent }) => !urgent)));
  });

  it('has the order of the chat, of the Daily Report and of the family report', async () => {
    const ids = (items: { approvalId: string }[]) => items.map(({ approvalId }) => approvalId);
    const items = await whole();
    const { reply } = (await owner.post('/consigliere/chat', { message: 'What waits for me?' })).body;
    expect(reply.match(/\bapr_[0-9a-z]{26}/g)).toEqual(ids(items.slice(0, 10)));
    const today = new Date(test.clock.now()).toISOString().slice(0, 10);
    const { approvalQueue } = (await read(`/reports/daily?date=${today}`)).body.sections;
    expect(ids(approvalQueue.items)).toEqual(ids(items.slice(0, 20)));
    for (const { capo, waits } of (await read('/family/report')).body.capos)
      expect(ids(waits.items)).toEqual(ids(items.filter((item) => item.capo === capo).slice(0, 5)));
  });

  it('is the same page by page among all of every status, newest first', async () => {
    const statuses = [
      'approved',
      'rejected',
      'changes_requested',
      'expired',
      'cancelled',
      'pending',
      'pending',
    ];
    await test.rows(
      `update approvals set status = ($1::text[])[1 + right(approval_id, 4)::int % 7]
       where right(approval_id, 4)::int > $2 and status = 'pending'`,
      [statuses, ROWS / 2],
    );
    const rows = await test.rows<{ approval_id: string }>(
      'select approval_id from approvals where workspace_id = $1 order by requested_at desc, approval_id desc',
      [workspaceId],
    );
    const newest = rows.map(({ approval_id }) => approval_id);
    const ids = (items: Item[]) => items.map(({ approvalId }) => approvalId);
    expect(newest).toHaveLength(ROWS);
    expect(ids(await whole('&status=all'))).toEqual(newest);
    expect(ids(await pageByPage(7, '&status=all'))).toEqual(newest);
    expect(await whole('&status=all&urgent=true')).toEqual(await whole('&urgent=true'));
    const ofCapo = await whole('&status=all&capo=capo_ops');
    expect(ids(ofCapo)).toEqual(newest.filter((id) => Number(id.slice(-4)) % 2 === 0));
  });

  it('has the same order while the clocks of approvals are stopped', async () => {
    const before = await whole();
    expect((await owner.post('/guardian/kill-switch', {})).status).toBe(200);
    const killed = await whole();
    expect(killed).toEqual(inOrder(killed));
    expect(killed.map(({ approvalId }) => approvalId)).toEqual(before.map(({ approvalId }) => approvalId));
    const paged = await pageByPage(9, '');
    expect(paged.map(({ approvalId }) => approvalId)).toEqual(before.map(({ approvalId }) => approvalId));
  });
});
