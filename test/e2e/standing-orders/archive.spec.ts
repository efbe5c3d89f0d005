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

describe('DELETE /standing-orders/:id 200', () => {
  it.each([
    ['an active order', () => desk.create(NO_MAIL)],
    ['a draft', () => desk.create(MAIL_TO_ACME)],
    [
      'a paused order',
      async () => {
        const standingOrderId = await desk.create(FILE_DOCUMENTS);
        await desk.elsewhere(test.owner).post(`/standing-orders/${standingOrderId}/pause`);
        return standingOrderId;
      },
    ],
  ])('archives %s', async (_case, make) => {
    const standingOrderId = await make();
    const admin = await desk.member('admin');
    const answer = await admin.delete(`/standing-orders/${standingOrderId}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ standingOrderId, status: 'archived' });
    expect(await desk.row(standingOrderId)).toMatchObject({
      status: 'archived',
      updated_at: new Date(answer.body.updatedAt),
    });
    expect((await desk.receipts(standingOrderId)).at(-1)).toMatchObject({
      action: 'standing_order.archived',
      actor: { type: 'member', id: admin.memberId },
      details: { status: 'archived', hash: answer.body.hash },
      requestId: answer.headers.get('x-request-id'),
    });
    expect((await admin.get(`/standing-orders/${standingOrderId}`)).body).toEqual(answer.body);
  });

  it('answers the same again, without a second receipt', async () => {
    const standingOrderId = await desk.create(NO_MAIL);
    const client = desk.elsewhere(test.owner);
    const first = await client.delete(`/standing-orders/${standingOrderId}`);
    const second = await client.delete(`/standing-orders/${standingOrderId}`);
    expect(second.status).toBe(200);
    expect(second.body).toEqual(first.body);
    expect(await desk.actions(standingOrderId)).toHaveLength(3);
  });
});

describe('DELETE /standing-orders/:id 401', () => {
  it('answers a caller without a valid token', async () => {
    const path = `/standing-orders/${await desk.create(NO_MAIL)}`;
    expect((await test.owner.delete(path, { 'x-service-token': 'no' })).status).toBe(401);
  });
});

describe('DELETE /standing-orders/:id 403', () => {
  it('answers an operator, of any order', async () => {
    const operator = await desk.member('operator');
    for (const order of [NO_MAIL, FILE_DOCUMENTS]) {
      const standingOrderId = await desk.create(order);
      const answer = await operator.delete(`/standing-orders/${standingOrderId}`);
      expect(answer.status).toBe(403);
      expect((await desk.row(standingOrderId)).status).toBe('active');
    }
  });
});

describe('DELETE /standing-orders/:id 404', () => {
  it.each([
    ['an id that names nothing', () => newId('so')],
    ['what is no id of an order', () => 'nonsense'],
    ['an order of another workspace', async () => desk.create(NO_MAIL, (await test.createWorkspace()).owner)],
  ])('answers %s', async (_case, make) => {
    const standingOrderId = await make();
    expect((await desk.elsewhere(test.owner).delete(`/standing-orders/${standingOrderId}`)).status).toBe(404);
  });
});
