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

describe('POST /standing-orders/:id/rollback 200', () => {
  it('makes a further version with what the former one said', async () => {
    const standingOrderId = await desk.create({
      ...FILE_DOCUMENTS,
      text: 'All of them.',
      limits: { maxPerDay: 5 },
    });
    const first = await desk.row(standingOrderId);
    await desk.revise(standingOrderId, { name: 'Other', text: null, limits: null, capos: ['ceo'] });
    const answer = await desk.rollBack(standingOrderId, { version: 1 });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({
      version: 3,
      status: 'active',
      name: 'File documents',
      text: 'All of them.',
      limits: { maxPerDay: 5 },
      capos: null,
      hash: first.hash,
    });
    expect(await desk.versions(standingOrderId)).toMatchObject([
      { version: 1 },
      { version: 2 },
      { version: 3, hash: first.hash },
    ]);
    expect((await desk.receipts(standingOrderId)).at(-1)).toMatchObject({
      action: 'standing_order.rolled_back',
      details: { version: 3, rolledBackTo: 1, rule: { limits: { maxPerDay: 5 } } },
    });
  });

  it('makes none when the order says that already', async () => {
    const standingOrderId = await desk.create(NO_MAIL);
    const answer = await desk.rollBack(standingOrderId, { version: 1 });
    expect(answer.status).toBe(200);
    expect(answer.body.version).toBe(1);
    expect(await desk.versions(standingOrderId)).toHaveLength(1);
  });

  it('takes from an operator what restricts no less than now', async () => {
    const standingOrderId = await desk.create(NO_MAIL);
    await desk.revise(standingOrderId, { capos: ['capo_ops'] });
    const answer = await desk.rollBack(standingOrderId, { version: 1 }, await desk.member('operator'));
    expect(answer.status, answer.text).toBe(200);
  });

  it('takes from an operator of its team the rollback of an order of the team', async () => {
    const teamId = await test.createTeam(test.workspaceId, 'Rolled back');
    const standingOrderId = await desk.create({ ...NO_MAIL, teamId });
    const member = await desk.member('operator', [teamId]);
    // Elsewhere a viewer.
    await test.rows(`update members set role = 'viewer' where member_id = $1`, [member.memberId]);
    expect((await desk.rollBack(standingOrderId, { version: 1 }, member)).body.version).toBe(1);
    await desk.revise(standingOrderId, { name: 'Other' });
    const answer = await desk.rollBack(standingOrderId, { version: 1 }, member);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({ version: 3, name: 'No mail', teamId });
  });

  it('takes an acknowledgement where more may go out than now', async () => {
    const standingOrderId = await desk.active(MAIL_TO_ACME);
    await desk.revise(standingOrderId, { capos: ['capo_ops'] });
    const unacknowledged = await desk.rollBack(standingOrderId, { version: 1 });
    expect(unacknowledged.status).toBe(409);
    expect(unacknowledged.body.error.code).toBe('SIMULATION_REQUIRED');
    const admin = await desk.member('admin');
    expect((await desk.rollBack(standingOrderId, { version: 1, acknowledge: true }, admin)).status).toBe(403);
    expect((await desk.row(standingOrderId)).version).toBe(2);
    expect((await desk.rollBack(standingOrderId, { version: 1, acknowledge: true })).body).toMatchObject({
      version: 3,
      capos: null,
      status: 'active',
    });
  });
});

describe('POST /standing-orders/:id/rollback 412', () => {
  it('answers whoever has read another order than there is', async () => {
    const standingOrderId = await desk.active(MAIL_TO_ACME);
    await desk.revise(standingOrderId, { capos: ['capo_ops'] });
    const path = `/standing-orders/${standingOrderId}/rollback`;
    const body = { version: 1, acknowledge: true };
    const answer = await desk.elsewhere(test.owner).post(path, body, { 'If-Match': '"other"' });
    expect(answer.status).toBe(412);
    expect(answer.body.error.code).toBe('CONTENT_CHANGED');
    const { hash, version } = await desk.row(standingOrderId);
    expect(version).toBe(2);
    const done = await desk.elsewhere(test.owner).post(path, body, { 'If-Match': `"${hash as string}"` });
    expect(done.body).toMatchObject({ status: 'active', version: 3 });
  });
});

describe('POST /standing-orders/:id/rollback 403, 404, 409', () => {
  it('answers an operator whose rollback would restrict less', async () => {
    const standingOrderId = await desk.create({ ...NO_MAIL, capos: ['capo_ops'] });
    await desk.revise(standingOrderId, { capos: null });
    const answer = await desk.rollBack(standingOrderId, { version: 1 }, await desk.member('operator'));
    expect(answer.status).toBe(403);
    expect((await desk.row(standingOrderId)).version).toBe(2);
  });

  it('answers an order that there is not', async () => {
    expect((await desk.rollBack(newId('so'), { version: 1 })).status).toBe(404);
  });

  it('answers an order that is archived', async () => {
    const standingOrderId = await desk.create(NO_MAIL);
    await desk.revise(standingOrderId, { name: 'Other' });
    await desk.elsewhere(test.owner).delete(`/standing-orders/${standingOrderId}`);
    expect((await desk.rollBack(standingOrderId, { version: 1 })).status).toBe(409);
  });
});

describe('POST /standing-orders/:id/rollback 422', () => {
  it.each([{}, { version: 0 }, { version: '1' }, { version: 1.5 }, { version: 3_000_000_000 }])(
    'answers %j',
    async (body) => {
      const answer = await desk.rollBack(await desk.create(NO_MAIL), body);
      expect(answer.status).toBe(422);
      expect(answer.body.error.details).toMatchObject([{ path: 'version' }]);
    },
  );

  it('names a version that there is not', async () => {
    const answer = await desk.rollBack(await desk.create(NO_MAIL), { version: 2 });
    expect(answer.status).toBe(422);
    expect(answer.body.error.details).toEqual([
      { path: 'version', rule: 'exists', message: 'the order has no version 2; its last is 1' },
    ]);
  });

  it('names a version that has expired', async () => {
    const expiresAt = test.clock.now() + 60_000;
    const standingOrderId = await desk.create({ ...NO_MAIL, expiresAt });
    await desk.revise(standingOrderId, { expiresAt: null });
    test.clock.advance(120_000);
    const answer = await desk.rollBack(standingOrderId, { version: 1 });
    test.clock.goOn();
    expect(answer.status).toBe(422);
    expect(answer.body.error.details).toMatchObject([{ path: 'version', rule: 'isUnexpired' }]);
    expect((await desk.row(standingOrderId)).version).toBe(2);
  });
});
