import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import type { Client } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { FILE_DOCUMENTS, MAIL_TO_ACME, NO_MAIL, OrderDesk } from './order-desk.js';

let test: TestApp;
let desk: OrderDesk;
beforeAll(async () => {
  test = await startTestApp();
  desk = new OrderDesk(test);
});
afterAll(() => test.close());

const idsOf = (items: { standingOrderId: string }[]) => items.map(({ standingOrderId }) => standingOrderId);

const list = async (client: Client, query = '') =>
  idsOf((await client.get(`/standing-orders${query}`)).body.items);

describe('GET /standing-orders 200', () => {
  it('lists the active ones, newest first, to a viewer too', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    const viewer = await test.createMember(workspaceId, 'viewer');
    const first = await desk.create(NO_MAIL, owner);
    const second = await desk.create(FILE_DOCUMENTS, owner);
    const draft = await desk.create(MAIL_TO_ACME, owner);
    const answer = await viewer.get('/standing-orders');
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ total: 2, limit: 20, offset: 0 });
    expect(idsOf(answer.body.items)).toEqual([second, first]);
    const { body: whole } = await viewer.get(`/standing-orders/${first}`);
    expect(whole).toMatchObject({ match: NO_MAIL.match, when: null, approval: null });
    expect(answer.body.items[1]).toEqual(whole);
    const $in = Array.from({ length: 100 }, (_, n) => `customer-${n}@acme.example`);
    const long = { ...NO_MAIL, match: { ...NO_MAIL.match, fields: { 'params.to': { $in } } } };
    const longest = await desk.create({ ...long, draft: true } as never, owner);
    const [{ match }] = (await viewer.get('/standing-orders?status=draft')).body.items;
    expect(match).toBeNull();
    await owner.delete(`/standing-orders/${longest}`);

    expect(await list(viewer, '?status=active')).toEqual([second, first]);
    expect(await list(viewer, '?status=draft')).toEqual([draft]);
    await owner.post(`/standing-orders/${second}/pause`);
    await owner.delete(`/standing-orders/${first}`);
    expect(await list(viewer)).toEqual([]);
    expect(await list(viewer, '?status=paused')).toEqual([second]);
    expect(await list(viewer, '?status=archived')).toEqual([longest, first]);
    expect(await list(viewer, '?status=shadow')).toEqual([]);
    expect(await list(viewer, '?status=all')).toEqual([longest, draft, second, first]);
  });

  it('pages', async () => {
    const { owner } = await test.createWorkspace();
    const ids = [];
    for (let n = 0; n < 3; n++) ids.unshift(await desk.create(NO_MAIL, owner));
    const answer = await owner.get('/standing-orders?limit=1&offset=1');
    expect(answer.body).toMatchObject({ total: 3, limit: 1, offset: 1 });
    expect(idsOf(answer.body.items)).toEqual([ids[1]]);
  });

  it('shows each only what they may see', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    const teamId = await test.createTeam(workspaceId, 'Marketing');
    const marketer = await test.createMember(workspaceId, 'operator', [teamId]);
    const outsider = await test.createMember(workspaceId, 'operator');
    const ofTeam = await desk.create({ ...NO_MAIL, teamId }, owner);
    const ofAll = await desk.create(NO_MAIL, owner);
    expect(await list(owner)).toEqual([ofAll, ofTeam]);
    expect(await list(marketer)).toEqual([ofTeam]);
    expect(await list(outsider)).toEqual([ofAll]);
    expect(await list((await test.createWorkspace()).owner)).toEqual([]);
  });
});

describe('GET /standing-orders 401', () => {
  it('answers a caller without a valid token', async () => {
    expect((await test.owner.get('/standing-orders', { 'x-service-token': 'no' })).status).toBe(401);
  });
});

describe('GET /standing-orders 422', () => {
  it.each(['status=on', 'status=', 'limit=101', 'offset=-1', 'state=active'])(
    'answers ?%s',
    async (query) => {
      const answer = await desk.elsewhere(test.owner).get(`/standing-orders?${query}`);
      expect(answer.status).toBe(422);
      expect(answer.body.error.details).toMatchObject([{ path: query.split('=')[0] }]);
    },
  );
});

describe('GET /standing-orders/:id 200', () => {
  it('answers an order of any status', async () => {
    const standingOrderId = await desk.create(MAIL_TO_ACME);
    const viewer = await desk.member('viewer');
    const answer = await viewer.get(`/standing-orders/${standingOrderId}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ standingOrderId, status: 'draft', match: MAIL_TO_ACME.match });
  });
});

describe('GET /standing-orders/:id 401', () => {
  it('answers a caller without a valid token', async () => {
    const path = `/standing-orders/${await desk.create(NO_MAIL)}`;
    expect((await test.owner.get(path, { 'x-service-token': 'no' })).status).toBe(401);
  });
});

describe('GET /standing-orders/:id 404', () => {
  it.each([
    ['an id that names nothing', () => newId('so')],
    ['what is no id of an order', () => 'nonsense'],
    ['an order of another workspace', async () => desk.create(NO_MAIL, (await test.createWorkspace()).owner)],
    [
      'an order of a team, to a member of none',
      async () => desk.create({ ...NO_MAIL, teamId: await test.createTeam(test.workspaceId, 'Theirs') }),
    ],
  ])('answers %s', async (_case, make) => {
    const answer = await (await desk.member('operator')).get(`/standing-orders/${await make()}`);
    expect(answer.status).toBe(404);
    expect(answer.body.error.code).toBe('NOT_FOUND');
  });
});
