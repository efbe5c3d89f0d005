import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Tallies } from '../../../src/platform/database/tallies.js';
import { Worker } from '../../../src/platform/work/worker.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk, DOCUMENT, MAIL } from '../directives/desk.js';
import { MAIL_TO_ACME, OrderDesk } from '../standing-orders/order-desk.js';
import { everything, MAIL_TO_JANE, MEMO, preflight } from './preflight-desk.js';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
  const orders = new OrderDesk(test);
  const desk = new Desk(test);
  const limits = { maxPerHour: 5, maxPerDay: 9, maxAmountPerDay: 100 };
  await orders.active({ ...MAIL_TO_ACME, limits });
  await orders.active({
    name: 'Memos',
    effect: 'allow',
    match: { actionTypes: ['document.file'] },
    limits,
    budget: { window: 'week', amount: 5, currency: 'EUR' },
  });
  // Something that counts, at a time that has passed: a decision would take it off its counters.
  for (let n = 0; n < 2; n++) {
    const body = { directive: DOCUMENT, capo: 'capo_ops', requiresApproval: false };
    await desk.until((await desk.client.post('/directives', body)).body.directiveId, 'executed');
  }
  await test.rows(`update standing_order_uses set at = at - interval '2 hours'`);
  await test.app.get(Worker).beforeApplicationShutdown();
  const tallies = test.app.get(Tallies);
  await tallies.fold();
  tallies.fold = async () => undefined;
}, 60_000);
afterAll(() => test.close());

const ASKED = {
  'an action that is allowed': { action: MAIL_TO_JANE, capo: 'capo_ops' },
  'an action whose order has counted something': { action: MEMO, capo: 'capo_ops' },
  'an action of any capo': { action: MEMO },
  'a directive': { directive: MAIL },
  'a directive for a capo': { directive: DOCUMENT, capo: 'capo_ops' },
  'an action that is refused': { action: { type: 'fax.send', params: {} } },
};

describe('a preflight changes nothing in the database', () => {
  it.each(Object.entries(ASKED))('for %s', async (_name, body) => {
    const before = await everything(test);
    expect(before['receipts']).not.toBe('');
    const answer = await preflight(test.owner, body);
    expect([200, 422]).toContain(answer.status);
    expect(await everything(test)).toEqual(before);
  });

  it('keeps no answer under a key', async () => {
    const before = await everything(test);
    const headers = { 'Idempotency-Key': 'preflight-1' };
    const first = await test.owner.post('/guardian/preflight', { action: MEMO, capo: 'capo_ops' }, headers);
    const second = await test.owner.post('/guardian/preflight', { action: MEMO, capo: 'capo_ops' }, headers);
    expect(first.status).toBe(200);
    expect(second.headers.get('idempotent-replayed')).toBeNull();
    expect(second.body.preflightId).not.toBe(first.body.preflightId);
    expect(await everything(test)).toEqual(before);
  });

  it('would be seen: what is counted changes the counters', async () => {
    const before = await everything(test);
    await test.rows(
      `select app.settle_order_usage($1, array(select standing_order_id from standing_orders), 'UTC', now())`,
      [test.workspaceId],
    );
    expect((await everything(test))['standing_order_usage']).not.toBe(before['standing_order_usage']);
  });
});
