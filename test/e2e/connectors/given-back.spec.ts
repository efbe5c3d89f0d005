import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ReceiptProofs, verifyLog } from '../../../src/features/verifier/verifier.js';
import type { ReceiptContent } from '../../../src/platform/receipts/receipt.js';
import { draftPacket } from '../../support/scripted-runner.js';
import { eventually } from '../../support/test-app.js';
import { OrderDesk } from '../standing-orders/order-desk.js';
import { call, ConnectorDesk, created } from './connector-desk.js';

let crm: ConnectorDesk;
let orders: OrderDesk;
beforeAll(async () => {
  crm = await ConnectorDesk.start();
  orders = new OrderDesk(crm.test);
});
afterAll(() => crm.close());

const BUDGET = { window: 'month', amount: 100, currency: 'EUR', warnPercent: 50 };
const PAYMENTS = { name: 'Payments', effect: 'allow', match: { actionTypes: ['http.call'] }, budget: BUDGET };

let orderId: string;
beforeEach(async () => {
  crm.answers(created);
  if (orderId) await orders.elsewhere(crm.test.owner).delete(`/standing-orders/${orderId}`);
  orderId = await orders.active(PAYMENTS);
});

const declined: Parameters<ConnectorDesk['answers']>[0] = (_received, response) => {
  response.statusCode = 402;
  response.end();
};
const silent: Parameters<ConnectorDesk['answers']>[0] = (_received, response) => response.socket?.destroy();

/** Hands in a credit that nobody wants to approve; answers its directive once it stands so. */
async function pay(amount: number, status: string): Promise<string> {
  const text = `Credit contact number ${Math.random()}`;
  const packet = call('create_contact', { email: 'jane@acme.example', credit: amount });
  crm.runner.answer(text, { packets: [draftPacket(packet)] });
  const body = { directive: text, capo: 'capo_ops', requiresApproval: false };
  const { directiveId } = (await crm.desk.client.post('/directives', body)).body;
  await crm.desk.until(directiveId, status, 20);
  return directiveId;
}

async function spent(): Promise<number> {
  const [row] = await crm.test.rows<{ spent: number }>(
    'select coalesce(sum(amount), 0)::float8 as spent from standing_order_uses where standing_order_id = $1',
    [orderId],
  );
  return row!.spent;
}

async function receipt(directiveId: string, action: string) {
  const [row] = await crm.test.rows<{ body: string }>(
    'select body from receipts where directive_id = $1 and action = $2 order by seq desc',
    [directiveId, action],
  );
  return JSON.parse(row!.body) as { details: Record<string, unknown> };
}

/** Every decision comes out the same from the receipts alone. */
async function expectVerified(): Promise<void> {
  const log = (await crm.desk.client.get('/audit-feed?format=jsonl')).text;
  const { proofs } = await verifyLog(Readable.from([Buffer.from(log)]), crm.test.workspaceId);
  expect(proofs.decisions.faults).toEqual([]);
  expect(proofs.decisions.equal).toBe(proofs.decisions.decisions);
}

describe('a payment that certainly did not happen', () => {
  it('takes nothing of the budget: two that are declined do not stop a third', async () => {
    crm.answers(declined);
    const first = await pay(60, 'failed');
    await pay(60, 'failed');
    expect(await spent()).toBe(0);
    const [packet] = await crm.desk.packets(first);
    expect((await receipt(first, 'packet.failed')).details['givenBack']).toEqual([
      { workPacketId: packet.workPacketId, standingOrderIds: [orderId] },
    ]);
    crm.answers(created);
    await pay(60, 'executed');
    expect(await spent()).toBe(60);
    await pay(60, 'pending_approval');
    await expectVerified();
    // Told by the receipts alone: without what they say of it, the later decisions go by another usage.
    const lines = (await crm.desk.client.get('/audit-feed?format=jsonl')).text.trimEnd().split('\n');
    const receipts = lines.map((line) => JSON.parse(line) as ReceiptContent & { seq: number });
    const proofs = new ReceiptProofs();
    for (const { seq, ...content } of receipts.toSorted((a, b) => a.seq - b.seq)) {
      const { givenBack: _givenBack, ...details } = content.details;
      proofs.receipt(seq, { ...content, details });
    }
    expect(new Set(proofs.decisions.faults.map(({ kind }) => kind))).toEqual(new Set(['usage']));
  });

  it('is warned of once more when its budget is nearly spent once more', async () => {
    const warnings = () =>
      crm.test.rows(`select 1 from signals where entity->>'id' = $1 and title like 'Budget nearly%'`, [
        orderId,
      ]);
    await pay(10, 'executed');
    crm.answers(declined);
    await pay(45, 'failed');
    expect(await warnings()).toHaveLength(1);
    crm.answers(created);
    await pay(30, 'executed');
    expect(await warnings()).toHaveLength(1);
    await pay(30, 'executed');
    expect(await warnings()).toHaveLength(2);
    await pay(30, 'executed');
    expect(await warnings()).toHaveLength(2);
  });

  it('reserves anew when it is sent again', async () => {
    crm.answers(declined);
    const directiveId = await pay(60, 'failed');
    const [escalation] = await eventually(
      () =>
        crm.test.rows<{ escalation_id: string }>(
          `select escalation_id from escalations where status = 'open' and entity_id = $1`,
          [directiveId],
        ),
      (found) => found.length > 0,
    );
    crm.answers(created);
    const answer = await crm.desk.client.post('/escalations/decide', {
      escalationId: escalation!.escalation_id,
      decision: 'retry',
    });
    expect(answer.status, answer.text).toBe(200);
    await crm.desk.until(directiveId, 'executed', 20);
    expect(await spent()).toBe(60);
    await pay(60, 'pending_approval');
    await expectVerified();
  });

  it('is given back when it is cancelled while the kill switch is engaged', async () => {
    await crm.test.rows(`
      create function held_back() returns trigger language plpgsql as $$
      begin new.due_at := now() + interval '1 hour'; return new; end $$;
      create trigger held_back before insert on work_items for each row when (new.kind = 'packet.send')
        execute function held_back()`);
    const directiveId = await pay(60, 'sending');
    await crm.test.rows('drop trigger held_back on work_items');
    expect(await spent()).toBe(60);
    await crm.desk.kill();
    const answer = await crm.desk.client.post(`/directives/${directiveId}/cancel`);
    expect(answer.status, answer.text).toBe(200);
    expect(await spent()).toBe(0);
    expect((await receipt(directiveId, 'directive.cancelled')).details['givenBack']).toHaveLength(1);
    await crm.desk.revert();
    await crm.desk.mode('guardrailed');
    await pay(100, 'executed');
    await expectVerified();
  });
});

describe('a payment of which nobody knows', () => {
  it('keeps what it has taken, until a person says that it did not arrive', async () => {
    crm.answers(silent);
    const directiveId = await pay(60, 'failed');
    expect(await spent()).toBe(60);
    await pay(60, 'pending_approval');
    const [packet] = await crm.desk.packets(directiveId);
    const [escalation] = await crm.test.rows<{ escalation_id: string }>(
      `select escalation_id from escalations where status = 'open' and entity_id = $1`,
      [packet.workPacketId],
    );
    const answer = await crm.desk.client.post('/escalations/decide', {
      escalationId: escalation!.escalation_id,
      decision: 'did_not_arrive',
    });
    expect(answer.status, answer.text).toBe(200);
    expect(await spent()).toBe(0);
    crm.answers(created);
    await pay(60, 'executed');
    await expectVerified();
  });
});
