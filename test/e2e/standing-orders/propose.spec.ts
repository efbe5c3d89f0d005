import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { draftPacket, ScriptedRunner } from '../../support/scripted-runner.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk } from '../directives/desk.js';
import { OrderDesk } from './order-desk.js';

const PROPOSAL = {
  name: 'Delivery mail to Acme',
  text: 'Mail about deliveries may go to Acme on workdays.',
  capos: ['capo_ops'],
  effect: 'allow',
  match: {
    actionTypes: ['email.send'],
    conditions: [
      { path: 'params.to', operator: '$domainIn', value: ['acme.example'] },
      { path: 'params.subject', operator: '$prefix', value: 'Delivery' },
    ],
  },
  when: { days: ['mon', 'tue'] },
  limits: { maxPerDay: 20, maxPerHour: null },
};

let test: TestApp;
let desk: Desk;
let orders: OrderDesk;
let runner: ScriptedRunner;
beforeAll(async () => {
  test = await startTestApp();
  desk = new Desk(test);
  orders = new OrderDesk(test);
  runner = new ScriptedRunner(test);
});
afterAll(() => test.close());

/** A draft of the executive capo with one proposal in it. */
async function proposed(params: object, name: string) {
  runner.answer(name, {
    packets: [draftPacket({ type: 'standing_order.propose', params: params as never })],
  });
  return desk.handInReady({ text: name, capo: 'ceo' });
}

describe('standing_order.propose', () => {
  it('makes a draft that decides nothing, once a person has approved it', async () => {
    await test.rows(`update workspaces set timezone = 'Europe/Vienna'`);
    const { approvalId, directiveId, approval } = await proposed(PROPOSAL, 'Propose an order for Acme.');
    expect(approval.output.summary).toBe('A standing order to activate: “Delivery mail to Acme”.');
    expect(approval.output.body).toContain('"operator": "$domainIn"');
    expect((await desk.approve(approvalId)).status).toBe(200);
    await desk.until(directiveId, 'executed');
    const [packet] = await desk.packets(directiveId);
    const { standingOrderId } = packet.result;
    expect(packet.compensation).toEqual({ type: 'standing_order.archive', params: { standingOrderId } });
    const { body } = await desk.client.get(`/standing-orders/${standingOrderId}`);
    expect(body).toMatchObject({
      status: 'draft',
      version: 1,
      heldBecause: 'A capo proposed it; it decides nothing until a person activates it.',
      name: PROPOSAL.name,
      text: PROPOSAL.text,
      teamId: null,
      capos: ['capo_ops'],
      effect: 'allow',
      match: {
        actionTypes: ['email.send'],
        fields: { 'params.to': { $domainIn: ['acme.example'] }, 'params.subject': { $prefix: 'Delivery' } },
      },
      when: { days: ['mon', 'tue'], timezone: 'Europe/Vienna' },
      createdBy: { type: 'capo', id: 'ceo' },
    });
    expect(await orders.receipts(standingOrderId)).toMatchObject([
      {
        action: 'standing_order.created',
        actor: { type: 'capo' },
        details: { status: 'draft', workPacketId: packet.workPacketId },
      },
    ]);
    // It is activated like any other.
    const refused = await desk.client.post(`/standing-orders/${standingOrderId}/activate`);
    expect(refused.body.error.code).toBe('SIMULATION_REQUIRED');
    expect((await orders.activate(standingOrderId)).body.status).toBe('active');
  });

  it('belongs to the team of its directive', async () => {
    const teamId = await test.createTeam(test.workspaceId, 'Sales');
    const params = { name: 'No mail', effect: 'deny', match: { actionTypes: ['email.send'] } };
    runner.answer('No mail of Sales.', {
      packets: [draftPacket({ type: 'standing_order.propose', params: params as never })],
    });
    const { approvalId, directiveId } = await desk.handInReady({
      text: 'No mail of Sales.',
      capo: 'ceo',
      teamId,
    });
    await desk.approve(approvalId);
    await desk.until(directiveId, 'executed');
    const [packet] = await desk.packets(directiveId);
    expect(await orders.row(packet.result.standingOrderId)).toMatchObject({
      team_id: teamId,
      status: 'draft',
    });
  });

  it('fails, and says why, where nobody could create such an order', async () => {
    const before = await orders.count();
    const params = {
      ...PROPOSAL,
      match: { conditions: [{ path: 'params.to', operator: '$domainIn', value: 'no list' }] },
    };
    const { approvalId, directiveId } = await proposed(params, 'Propose what cannot be.');
    await desk.approve(approvalId);
    await desk.until(directiveId, 'failed');
    const [packet] = await desk.packets(directiveId);
    expect(packet).toMatchObject({ status: 'failed', result: { error: { code: 'INVALID_ORDER' } } });
    expect(packet.result.error.message).toMatch(
      /^The proposed order is not valid\. match\.fields: "params\.to": \$domainIn/,
    );
    expect(await orders.count()).toBe(before);
  });

  it('is refused of another capo, and with parameters that no order has', async () => {
    runner.answer('Propose by Ops.', {
      packets: [draftPacket({ type: 'standing_order.propose', params: PROPOSAL as never })],
    });
    const byOps = await desk.handIn({ text: 'Propose by Ops.', capo: 'capo_ops' });
    expect((await desk.until(byOps.directiveId, 'failed')).error.code).toBe('INVALID_OUTPUT');
    runner.answer('Propose to act at once.', {
      packets: [
        draftPacket({ type: 'standing_order.propose', params: { ...PROPOSAL, status: 'active' } as never }),
      ],
    });
    const active = await desk.handIn({ text: 'Propose to act at once.', capo: 'ceo' });
    expect((await desk.until(active.directiveId, 'failed')).error.message).toContain('params.status');
  });
});
