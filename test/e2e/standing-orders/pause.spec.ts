import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { FILE_DOCUMENTS, MAIL_TO_ACME, NO_MAIL, OrderDesk } from './order-desk.js';

let test: TestApp;
let desk: OrderDesk;
beforeAll(async () => {
  test = await startTestApp();
  desk = new OrderDesk(test);
});
afterAll(() => test.close());

const TIGHTENING = [
  NO_MAIL,
  { ...NO_MAIL, effect: 'require_approval' },
  { ...NO_MAIL, effect: 'throttle', limits: { maxPerDay: 1 } },
];

describe('POST /standing-orders/:id/pause 200', () => {
  it('lets an operator pause an order that allows', async () => {
    const standingOrderId = await desk.active(MAIL_TO_ACME);
    const operator = await desk.member('operator');
    const answer = await operator.post(`/standing-orders/${standingOrderId}/pause`);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ standingOrderId, status: 'paused', activatedAt: expect.any(Number) });
    expect(await desk.row(standingOrderId)).toMatchObject({
      status: 'paused',
      updated_at: new Date(answer.body.updatedAt),
      activated_at: new Date(answer.body.activatedAt),
    });
    expect((await desk.receipts(standingOrderId)).at(-1)).toMatchObject({
      action: 'standing_order.paused',
      actor: { type: 'member', id: operator.memberId },
      details: { effect: 'allow', status: 'paused', hash: answer.body.hash },
      requestId: answer.headers.get('x-request-id'),
    });
  });

  it.each(TIGHTENING)('lets an admin pause $effect', async (order) => {
    const standingOrderId = await desk.create(order);
    const answer = await (await desk.member('admin')).post(`/standing-orders/${standingOrderId}/pause`);
    expect(answer.status).toBe(200);
    expect((await desk.row(standingOrderId)).status).toBe('paused');
  });

  it('answers the same again, without a second receipt', async () => {
    const path = `/standing-orders/${await desk.create(FILE_DOCUMENTS)}`;
    const client = desk.elsewhere(test.owner);
    const first = await client.post(`${path}/pause`);
    const second = await client.post(`${path}/pause`);
    expect(second.status).toBe(200);
    expect(second.body).toEqual(first.body);
    expect(await desk.actions(first.body.standingOrderId)).toHaveLength(3);
  });
});

describe('POST /standing-orders/:id/pause 401', () => {
  it('answers a caller without a valid token', async () => {
    const path = `/standing-orders/${await desk.create(NO_MAIL)}/pause`;
    expect((await test.owner.post(path, undefined, { 'x-service-token': 'no' })).status).toBe(401);
  });
});

describe('POST /standing-orders/:id/pause 403', () => {
  it('answers a viewer', async () => {
    const standingOrderId = await desk.active(MAIL_TO_ACME);
    expect(
      (await (await desk.member('viewer')).post(`/standing-orders/${standingOrderId}/pause`)).status,
    ).toBe(403);
    expect((await desk.row(standingOrderId)).status).toBe('active');
  });

  it.each(TIGHTENING)('answers an operator, even the author, of $effect', async (order) => {
    const operator = await desk.member('operator');
    const standingOrderId = await desk.create(order, operator);
    const answer = await operator.post(`/standing-orders/${standingOrderId}/pause`);
    expect(answer.status).toBe(403);
    expect(answer.body.error).toMatchObject({
      code: 'FORBIDDEN',
      message: 'Only an admin may pause a standing order that restricts work packets.',
      details: { requiredRoles: ['admin', 'owner'] },
    });
    expect((await desk.row(standingOrderId)).status).toBe('active');
    expect(await desk.actions(standingOrderId)).toHaveLength(2);
  });
});

describe('POST /standing-orders/:id/pause 404', () => {
  it.each([
    ['an id that names nothing', () => newId('so')],
    ['what is no id of an order', () => 'nonsense'],
    [
      'an order of another workspace',
      async () => desk.create(FILE_DOCUMENTS, (await test.createWorkspace()).owner),
    ],
    [
      'an order of a team, to a member of none',
      async () => desk.create({ ...NO_MAIL, teamId: await test.createTeam(test.workspaceId, 'Theirs') }),
    ],
  ])('answers %s', async (_case, make) => {
    const standingOrderId = await make();
    const answer = await (await desk.member('operator')).post(`/standing-orders/${standingOrderId}/pause`);
    expect(answer.status).toBe(404);
  });
});

describe('POST /standing-orders/:id/pause 409', () => {
  it.each([
    ['a draft', () => desk.create(MAIL_TO_ACME), 'draft'],
    [
      'an archived order',
      async () => {
        const standingOrderId = await desk.create(NO_MAIL);
        await desk.elsewhere(test.owner).delete(`/standing-orders/${standingOrderId}`);
        return standingOrderId;
      },
      'archived',
    ],
  ])('answers %s', async (_case, make, status) => {
    const standingOrderId = await make();
    const answer = await desk.elsewhere(test.owner).post(`/standing-orders/${standingOrderId}/pause`);
    expect(answer.status).toBe(409);
    expect(answer.body.error.code).toBe('INVALID_TRANSITION');
    expect((await desk.row(standingOrderId)).status).toBe(status);
  });
});
