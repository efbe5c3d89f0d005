import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { growthRows } from '../../../bench/growth-rows.js';
import { Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';

const DESTINATION = `whk_${'1'.padStart(26, '0')}`;

/** Every paged list, with the id of its items. */
const LISTS: [path: string, id: string][] = [
  ['/directives', 'directiveId'],
  ['/directives?status=executed', 'directiveId'],
  ['/work-packets', 'workPacketId'],
  ['/approvals?status=approved', 'approvalId'],
  ['/approvals', 'approvalId'],
  ['/documents', 'documentId'],
  ['/signals', 'signalId'],
  ['/signals?status=open', 'signalId'],
  ['/signals?type=agent&status=acknowledged', 'signalId'],
  ['/revenue-events', 'eventId'],
  ['/revenue-events?source=shop&currency=USD', 'eventId'],
  ['/standing-orders', 'standingOrderId'],
  ['/tokens', 'tokenId'],
  ['/webhooks', 'destinationId'],
  [`/webhooks/${DESTINATION}/deliveries`, 'deliveryId'],
];

const MAX_PAGE_BYTES = 2_000_000;

let test: TestApp;
/** Calls from a new address each time: the limits of the routes are not what is tested here. */
class Reader {
  constructor(private readonly owner: Client) {}

  get(path: string) {
    return new Client(this.owner.url, this.owner.token).get(path);
  }
}

let light: Reader;
let heavy: Reader;

async function fill(from: number, to: number, isHeavy: boolean): Promise<Reader> {
  const { workspaceId, owner } = await test.createWorkspace();
  const session = await test.database.owner.connect();
  try {
    for (const { text } of growthRows({ workspaceId, from, to, heavy: isHeavy })) await session.query(text);
  } finally {
    session.release();
  }
  return new Reader(owner);
}

/** Rows of two databases: their ids are the same. */
let other: TestApp;
beforeAll(async () => {
  test = await startTestApp();
  light = await fill(1, 10_001, false);
  const first = test;
  test = await startTestApp();
  other = test;
  heavy = await fill(401, 520, true);
  test = first;
}, 120_000);
afterAll(async () => {
  await test.close();
  await other.close();
});

const withQuery = (path: string, query: string) => `${path}${path.includes('?') ? '&' : '?'}${query}`;

describe.each(LISTS)('GET %s', (path, id) => {
  it('gives every item once when read by cursor, in the order of the pages by offset', async () => {
    const byOffset: string[] = [];
    for (const offset of [0, 100, 200]) {
      const { body } = await light.get(withQuery(path, `limit=100&offset=${offset}`));
      byOffset.push(...body.items.map((item: Record<string, string>) => item[id]));
    }
    const byCursor: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null && byCursor.length < byOffset.length) {
      const { status, body, text } = await light.get(
        withQuery(path, `limit=37${cursor && `&cursor=${cursor}`}`),
      );
      expect(status, text).toBe(200);
      byCursor.push(...body.items.map((item: Record<string, string>) => item[id]));
      cursor = body.nextCursor;
    }
    expect(byCursor.slice(0, byOffset.length)).toEqual(byOffset);
    expect(new Set(byCursor).size).toBe(byCursor.length);
    expect(byOffset.length).toBeGreaterThan(0);
  });

  it('ends with no cursor', async () => {
    const { body } = await light.get(withQuery(path, 'limit=100&offset=10000'));
    expect(body.nextCursor).toBeNull();
    expect(body.items.length).toBeLessThanOrEqual(1);
  });

  it.each([
    ['offset', 'offset=10001'],
    ['cursor', 'cursor=%25'],
    ['cursor', `cursor=${Buffer.from('["directives"').toString('base64url')}`],
    ['cursor', `cursor=${Buffer.from('["of another list",null,1,"dir_1"]').toString('base64url')}`],
    ['cursor', `cursor=${Buffer.from('["directives",null,"x",{}]').toString('base64url')}`],
    ['cursor', `cursor=${Buffer.from('["approvals pending",1e300,0,1,"a"]').toString('base64url')}`],
    ['cursor', 'cursor='],
    ['cursor', 'cursor=a&cursor=b'],
  ])('refuses a wrong %s: %s', async (at, query) => {
    const { status, body } = await light.get(withQuery(path, query));
    expect(status).toBe(422);
    expect(body.error.details[0].path).toBe(at);
  });

  it('has no page above 2 MB, whatever its items hold', async () => {
    const { status, text, body } = await heavy.get(withQuery(path, 'limit=100'));
    expect(status).toBe(200);
    expect(body.items.length).toBeGreaterThan(0);
    expect(Buffer.byteLength(text)).toBeLessThan(MAX_PAGE_BYTES);
  });
});

describe('the total of a list', () => {
  it('counts up to 10,000 and says when there are more', async () => {
    const { body } = await light.get('/directives?limit=1');
    expect(body).toMatchObject({ total: 10_000, totalIsMinimum: true });
  });

  it('is exact below', async () => {
    const { body } = await light.get('/approvals?limit=1');
    expect(body.total).toBe(20);
    expect(body).not.toHaveProperty('totalIsMinimum');
  });

  it('is read with the page, in one round trip', async () => {
    const { headers } = await light.get('/directives?limit=1');
    expect(headers.get('x-request-id')).toMatch(/^req_/);
  });
});

describe('a cursor', () => {
  it('is not taken together with an offset', async () => {
    const { nextCursor } = (await light.get('/directives?limit=1')).body;
    const { status, body } = await light.get(`/directives?offset=1&cursor=${nextCursor}`);
    expect(status).toBe(422);
    expect(body.error.details).toEqual([
      { path: 'offset', rule: 'offsetWithCursor', message: 'offset must not be given with a cursor' },
    ]);
  });

  it('keeps to one order of urgency, though the time goes on', async () => {
    await test.rows(
      `update approvals set expires_at = now() + interval '2 hours 1 second' where status = 'pending'`,
    );
    const first = (await light.get('/approvals?limit=7')).body;
    expect(first.items[0].urgent).toBe(false);
    const now = () => light.get(`/approvals/${first.items[0].approvalId}`);
    await eventually(now, ({ body }) => body.urgent);
    const rest = (await light.get(`/approvals?limit=100&cursor=${first.nextCursor}`)).body;
    expect(rest.items.length + first.items.length).toBe(20);
  });

  it('shows nothing that its bearer may not see', async () => {
    const { nextCursor } = (await light.get('/directives?limit=1')).body;
    const { owner } = await test.createWorkspace();
    expect((await owner.get(`/directives?cursor=${nextCursor}`)).body.items).toEqual([]);
  });
});

describe('what lists leave out', () => {
  it.each([
    ['/directives', 'directiveId', ['context', 'output', 'directive', 'routing', 'history']],
    ['/work-packets', 'workPacketId', ['compensation', 'result']],
    ['/approvals', 'approvalId', ['output', 'packets', 'policy']],
    ['/documents', 'documentId', ['body']],
    ['/signals', 'signalId', ['body']],
  ])('%s: stands in the single record', async (path, id, fields) => {
    const [item] = (await light.get(`${path}?limit=1`)).body.items;
    const single = await light.get(`${path}/${item[id]}`);
    expect(single.status, single.text).toBe(200);
    for (const field of fields) {
      expect(item).not.toHaveProperty(field);
      expect(single.body).toHaveProperty(field);
    }
  });

  it('/work-packets: the parameters and the decision stand in the single record', async () => {
    const [item] = (await light.get('/work-packets?limit=1')).body.items;
    const { body } = await light.get(`/work-packets/${item.workPacketId}`);
    expect(Object.keys(item.action)).toEqual(['type', 'target']);
    expect(body.action.params).toEqual({ customer: 'Acme' });
    expect(item.decision).toEqual({ outcome: 'allow' });
    expect(body.decision.explanation).toEqual(['yes']);
  });

  it('/work-packets/{id}: 404 for none, and for one of another workspace', async () => {
    const [item] = (await light.get('/work-packets?limit=1')).body.items;
    const { owner } = await test.createWorkspace();
    expect((await owner.get(`/work-packets/${item.workPacketId}`)).status).toBe(404);
    expect((await light.get('/work-packets/none')).status).toBe(404);
  });
});

describe('composed reads', () => {
  it.each(['/context', '/audit-feed?limit=100', '/feed?limit=100', '/bootstrap', '/agents'])(
    '%s is below 2 MB, whatever its rows hold',
    async (path) => {
      const { status, text } = await heavy.get(path);
      expect(status).toBe(200);
      expect(Buffer.byteLength(text)).toBeLessThan(MAX_PAGE_BYTES);
    },
  );
});
