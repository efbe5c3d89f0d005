import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import type { Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { FILE_DOCUMENTS, MAIL_TO_ACME, NO_MAIL, OrderDesk } from './order-desk.js';

let test: TestApp;
let desk: OrderDesk;
beforeAll(async () => {
  test = await startTestApp();
  desk = new OrderDesk(test);
});
afterAll(() => test.close());

async function paused(order: object): Promise<string> {
  const standingOrderId = await desk.active(order);
  await desk.elsewhere(test.owner).post(`/standing-orders/${standingOrderId}/pause`);
  return standingOrderId;
}

describe('POST /standing-orders/:id/activate 200', () => {
  it('lets an owner who acknowledges activate what relaxes an irreversible work packet', async () => {
    const standingOrderId = await desk.create(MAIL_TO_ACME);
    const before = Date.now();
    const answer = await desk.activate(standingOrderId);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ standingOrderId, status: 'active', heldBecause: null, version: 1 });
    expect(answer.body.activatedAt).toBeGreaterThanOrEqual(before);
    expect(answer.body.updatedAt).toBe(answer.body.activatedAt);
    expect(await desk.row(standingOrderId)).toMatchObject({
      status: 'active',
      held_because: null,
      activated_at: new Date(answer.body.activatedAt),
    });
    const receipts = await desk.receipts(standingOrderId);
    expect(receipts.map(({ action }) => action)).toEqual([
      'standing_order.created',
      'standing_order.activated',
    ]);
    expect(receipts[1]).toMatchObject({
      details: { effect: 'allow', status: 'active', hash: answer.body.hash, acknowledged: true },
      requestId: answer.headers.get('x-request-id'),
    });
  });

  it.each([
    ['tightens', NO_MAIL],
    ['allows what can be undone', FILE_DOCUMENTS],
  ])('lets an admin activate a paused order that %s, without a word', async (_case, order) => {
    const standingOrderId = await paused(order);
    const answer = await (await desk.member('admin')).post(`/standing-orders/${standingOrderId}/activate`);
    expect(answer.status).toBe(200);
    expect(answer.body.status).toBe('active');
    const last = (await desk.receipts(standingOrderId)).at(-1);
    expect(last).toMatchObject({ action: 'standing_order.activated', details: { acknowledged: false } });
  });

  it('answers the same again, without a second receipt', async () => {
    const standingOrderId = await desk.create(MAIL_TO_ACME);
    const first = await desk.activate(standingOrderId);
    const second = await desk.activate(standingOrderId);
    expect(second.status).toBe(200);
    expect(second.body).toEqual(first.body);
    expect(await desk.actions(standingOrderId)).toHaveLength(2);
  });

  it('activates once however many ask at the same time', async () => {
    const standingOrderId = await desk.create(MAIL_TO_ACME);
    // All of them wait at the row before the first may go on, else the first is done before the second comes.
    const holder = await test.database.owner.connect();
    await holder.query('begin');
    await holder.query('select 1 from standing_orders where standing_order_id = $1 for update', [
      standingOrderId,
    ]);
    const asking = Array.from({ length: 4 }, () => desk.activate(standingOrderId));
    await eventually(
      () => desk.waiting(),
      (waiting) => waiting === 4,
    );
    await holder.query('commit');
    holder.release();
    const answers = await Promise.all(asking);
    for (const { body } of answers) expect(body).toEqual(answers[0]!.body);
    expect(await desk.actions(standingOrderId)).toHaveLength(2);
  });
});

describe('POST /standing-orders/:id/activate 401', () => {
  it('answers a caller without a valid token', async () => {
    const path = `/standing-orders/${await desk.create(MAIL_TO_ACME)}/activate`;
    expect((await test.owner.post(path, {}, { 'x-service-token': 'no' })).status).toBe(401);
  });
});

describe('POST /standing-orders/:id/activate 403', () => {
  it('answers an operator, of any order', async () => {
    const standingOrderId = await paused(NO_MAIL);
    const answer = await (await desk.member('operator')).post(`/standing-orders/${standingOrderId}/activate`);
    expect(answer.status).toBe(403);
    expect((await desk.row(standingOrderId)).status).toBe('paused');
  });

  it.each([
    ['a draft', () => desk.create(MAIL_TO_ACME)],
    ['a paused order', () => paused(MAIL_TO_ACME)],
  ])(
    'answers an admin, of %s that relaxes an irreversible work packet, though they acknowledge it',
    async (_case, make) => {
      const standingOrderId = await make();
      const { status } = await desk.row(standingOrderId);
      const answer = await desk.activate(standingOrderId, await desk.member('admin'));
      expect(answer.status).toBe(403);
      expect(answer.body.error).toEqual({
        code: 'FORBIDDEN',
        status: 403,
        message: expect.stringMatching(
          /^It allows work packets that cannot be undone\. .*Only an owner may activate it\.$/,
        ),
        details: { requiredRoles: ['owner'] },
      });
      expect((await desk.row(standingOrderId)).status).toBe(status);
    },
  );
});

describe('POST /standing-orders/:id/activate 404', () => {
  it.each([
    ['an id that names nothing', () => newId('so')],
    ['what is no id of an order', () => 'nonsense'],
    ['an order of another workspace', async () => desk.create(NO_MAIL, (await test.createWorkspace()).owner)],
  ])('answers %s', async (_case, make) => {
    expect((await desk.activate(await make())).status).toBe(404);
  });
});

describe('POST /standing-orders/:id/activate 409', () => {
  it('answers an archived order', async () => {
    const standingOrderId = await desk.create(FILE_DOCUMENTS);
    await desk.elsewhere(test.owner).delete(`/standing-orders/${standingOrderId}`);
    const answer = await desk.activate(standingOrderId);
    expect(answer.status).toBe(409);
    expect(answer.body.error.code).toBe('INVALID_TRANSITION');
    expect((await desk.row(standingOrderId)).status).toBe('archived');
  });

  it('answers an order that has expired', async () => {
    const standingOrderId = await paused({ ...NO_MAIL, expiresAt: Date.now() + 60_000 });
    await test.rows(`update standing_orders set expires_at = now() where standing_order_id = $1`, [
      standingOrderId,
    ]);
    expect((await desk.activate(standingOrderId)).status).toBe(409);
    expect((await desk.row(standingOrderId)).status).toBe('paused');
  });
});

describe('POST /standing-orders/:id/activate 409 SIMULATION_REQUIRED', () => {
  it.each<[string, object | undefined, () => Promise<Client>]>([
    ['an owner with no body', undefined, async () => test.owner],
    ['an owner with an empty body', {}, async () => test.owner],
    ['an admin', {}, () => desk.member('admin')],
  ])(
    'answers %s who does not acknowledge what cannot be undone, with the simulation',
    async (_case, body, by) => {
      const standingOrderId = await desk.create(MAIL_TO_ACME);
      const client = desk.elsewhere(await by());
      const answer = await client.post(`/standing-orders/${standingOrderId}/activate`, body);
      expect(answer.status).toBe(409);
      const { code, message, details } = answer.body.error;
      expect(code).toBe('SIMULATION_REQUIRED');
      expect(message).toMatch(
        /^It allows work packets that cannot be undone\. .*An owner must allow it with "acknowledge": true and "version": \d+\.$/,
      );
      const simulated = await client.post(`/standing-orders/${standingOrderId}/simulate`);
      expect(details.simulation).toEqual(simulated.body);
      expect(await desk.row(standingOrderId)).toMatchObject({ status: 'draft', activated_at: null });
      expect(await desk.actions(standingOrderId)).toEqual(['standing_order.created']);
    },
  );
});

describe('POST /standing-orders/:id/activate 412 VERSION_CHANGED', () => {
  it('answers an owner who has looked at another version: what somebody changed since is not activated', async () => {
    const standingOrderId = await desk.create(MAIL_TO_ACME);
    const admin = desk.elsewhere(await desk.member('admin'));
    const loosened = await admin.send('PATCH', `/standing-orders/${standingOrderId}`, {
      match: { actionTypes: ['email.send'] },
    });
    expect(loosened.body).toMatchObject({ status: 'draft', version: 2 });
    const activate = (version: number) =>
      desk
        .elsewhere(test.owner)
        .post(`/standing-orders/${standingOrderId}/activate`, { acknowledge: true, version });
    const refused = await activate(1);
    expect(refused.status).toBe(412);
    expect(refused.body.error).toMatchObject({ code: 'VERSION_CHANGED', details: { version: 2 } });
    expect(await desk.row(standingOrderId)).toMatchObject({ status: 'draft' });
    expect((await activate(2)).body).toMatchObject({ status: 'active', version: 2 });
  });
});

describe('POST /standing-orders/:id/activate 428, 412 CONTENT_CHANGED', () => {
  const activate = (standingOrderId: string, ifMatch?: string) =>
    desk
      .elsewhere(test.owner)
      .post(
        `/standing-orders/${standingOrderId}/activate`,
        { acknowledge: true },
        ifMatch === undefined ? {} : { 'If-Match': ifMatch },
      );

  it.each([undefined, '*'])(
    'answers an acknowledgement that names nothing (If-Match: %s)',
    async (ifMatch) => {
      const standingOrderId = await desk.create(MAIL_TO_ACME);
      const answer = await activate(standingOrderId, ifMatch);
      expect(answer.status).toBe(428);
      expect(answer.body.error).toMatchObject({
        code: 'PRECONDITION_REQUIRED',
        message: expect.stringContaining('name the version'),
      });
      expect(await desk.row(standingOrderId)).toMatchObject({ status: 'draft', activated_at: null });
    },
  );

  it.each([
    ['in quotes', (hash: string) => `"${hash}"`],
    ['bare', (hash: string) => hash],
  ])('heeds If-Match %s: what somebody has changed since is not activated', async (_case, tagOf) => {
    const standingOrderId = await desk.create(MAIL_TO_ACME);
    const read = tagOf((await desk.row(standingOrderId))['hash'] as string);
    const admin = await desk.member('admin');
    await desk.revise(standingOrderId, { match: { actionTypes: ['email.send'] } }, admin);
    const refused = await activate(standingOrderId, read);
    expect(refused.status).toBe(412);
    const { hash } = await desk.row(standingOrderId);
    expect(refused.body.error).toMatchObject({ code: 'CONTENT_CHANGED', details: { version: 2, hash } });
    expect(await desk.row(standingOrderId)).toMatchObject({ status: 'draft' });
    expect((await activate(standingOrderId, tagOf(hash as string))).body).toMatchObject({
      status: 'active',
      version: 2,
    });
  });

  it('heeds them without an acknowledgement as well, and where it is only tried out', async () => {
    const standingOrderId = await desk.create(NO_MAIL);
    const path = `/standing-orders/${standingOrderId}/activate`;
    const owner = desk.elsewhere(test.owner);
    await desk.elsewhere(test.owner).post(`/standing-orders/${standingOrderId}/pause`);
    expect((await owner.post(path, {}, { 'If-Match': '"other"' })).status).toBe(412);
    expect((await owner.post(path, { shadow: true }, { 'If-Match': '"other"' })).status).toBe(412);
    expect((await owner.post(path, { shadow: true, version: 2 })).status).toBe(412);
    expect(await desk.row(standingOrderId)).toMatchObject({ status: 'paused' });
  });
});

describe('POST /standing-orders/:id/activate 422', () => {
  it.each([
    ['false', { acknowledge: false }],
    ['text', { acknowledge: 'true' }],
    ['another property', { acknowledged: true }],
  ])('answers an owner who acknowledges with %s', async (_case, body) => {
    const standingOrderId = await desk.create(MAIL_TO_ACME);
    const answer = await desk
      .elsewhere(test.owner)
      .post(`/standing-orders/${standingOrderId}/activate`, body);
    expect(answer.status).toBe(422);
    expect(answer.body.error.code).toBe('VALIDATION_FAILED');
    expect(answer.body.error.details[0].path).toMatch(/^acknowledge/);
    expect(await desk.row(standingOrderId)).toMatchObject({ status: 'draft', activated_at: null });
    expect(await desk.actions(standingOrderId)).toEqual(['standing_order.created']);
  });
});
