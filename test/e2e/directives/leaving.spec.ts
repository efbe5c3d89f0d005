import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually, startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';
import { type MailServer, startMailServer } from '../mail/mail-server.js';
import { MAIL_TO_ACME, NO_MAIL, OrderDesk } from '../standing-orders/order-desk.js';
import { Desk, expectUnbroken, MAIL } from './desk.js';

/** Between a decision and its effect orders, mode and deadline may change: what leaves is what may leave then. */
let test: TestApp;
let mail: MailServer;
let orders: OrderDesk;
let workspace: TestWorkspace;
let desk: Desk;
/** While it is set, the mail server asks to come again later, so an allowed mail waits for its next try. */
let isBusy: boolean;

beforeAll(async () => {
  mail = await startMailServer({
    recipient: () => (isBusy ? { code: 451, text: 'Try again later' } : undefined),
  });
  test = await startTestApp({ SMTP_URL: mail.url, MAIL_FROM: 'Acme <ops@acme.example>' });
  orders = new OrderDesk(test);
});
afterAll(async () => {
  await test.close();
  await mail.close();
});
beforeEach(async () => {
  isBusy = true;
  mail.received.length = 0;
  workspace = await test.createWorkspace();
  desk = new Desk(test, workspace.owner.token);
});

/** A mail that a standing order allowed, waiting for its next try. */
async function waiting() {
  const orderId = await orders.active(MAIL_TO_ACME, workspace.owner);
  const { status, body, text } = await desk.client.post('/directives', {
    directive: MAIL,
    capo: 'capo_ops',
    requiresApproval: false,
  });
  expect(status, text).toBe(201);
  const { directiveId } = body;
  const workPacketId = await untilRefused(directiveId);
  return { orderId, directiveId, workPacketId };
}

/** Waits until the mail server has refused the mail; answers the packet, whose next try is put off. */
async function untilRefused(directiveId: string): Promise<string> {
  const [item] = await eventually(
    () =>
      test.rows<{ id: string }>(
        `select i.id from work_items i join work_packets p on p.work_packet_id = i.id
         where i.kind = 'packet.send' and p.directive_id = $1 and i.failures > 0 and not i.claimed`,
        [directiveId],
      ),
    (rows) => rows.length === 1,
  );
  await test.rows(`update work_items set due_at = now() + interval '1 hour' where id = $1`, [item!.id]);
  return item!.id;
}

/** The mail server takes mail again, and the next try is due. */
async function tryAgain(workPacketId: string): Promise<void> {
  isBusy = false;
  await test.rows('update work_items set due_at = now() where id = $1', [workPacketId]);
}

const packetOf = async (directiveId: string) => (await desk.packets(directiveId))[0]!;

describe('a mail that a standing order allowed', () => {
  it('leaves at the next try while the order stands', async () => {
    const { directiveId, workPacketId } = await waiting();
    await tryAgain(workPacketId);
    expectUnbroken(await desk.until(directiveId, 'executed'));
    expect(mail.received).toHaveLength(1);
  });

  it('is denied when an order that denies it has come into force', async () => {
    const { orderId, directiveId, workPacketId } = await waiting();
    expect((await workspace.owner.delete(`/standing-orders/${orderId}`)).status).toBe(200);
    await orders.active(NO_MAIL, workspace.owner);
    await tryAgain(workPacketId);
    const failed = await desk.until(directiveId, 'failed');
    expectUnbroken(failed);
    expect(failed.error).toMatchObject({ code: 'POLICY_DENIED' });
    expect(await packetOf(directiveId)).toMatchObject({ status: 'denied', decision: { outcome: 'deny' } });
    expect(await desk.actions(directiveId)).toContain('packet.denied');
    expect(mail.received).toEqual([]);
  });

  it('does not leave in other words than were allowed, whoever changed them', async () => {
    const { directiveId, workPacketId } = await waiting();
    await test.rows(
      `update work_packets set params = params || '{"body": "Pay at once."}' where work_packet_id = $1`,
      [workPacketId],
    );
    await tryAgain(workPacketId);
    await desk.until(directiveId, 'failed');
    expect(await packetOf(directiveId)).toMatchObject({
      status: 'failed',
      result: { error: { code: 'CONTENT_CHANGED' } },
    });
    expect(mail.received).toEqual([]);
  });

  it.each([
    ['its order was archived', (orderId: string) => workspace.owner.delete(`/standing-orders/${orderId}`)],
    ['everything asks', () => workspace.owner.put('/guardian/mode', { mode: 'supervised' })],
  ])('goes back to review when %s, and leaves once a person approves', async (_why, change) => {
    const { orderId, directiveId, workPacketId } = await waiting();
    expect((await change(orderId)).status).toBe(200);
    await tryAgain(workPacketId);
    const recalled = await desk.until(directiveId, 'pending_approval');
    expectUnbroken(recalled);
    expect(await packetOf(directiveId)).toMatchObject({ status: 'awaiting_approval' });
    expect(await desk.actions(directiveId)).toContain('directive.recalled');
    const approval = await desk.ready(recalled.approvalId);
    expect(approval).toMatchObject({
      packets: [{ workPacketId, action: { params: { to: ['jane@acme.example'] } } }],
      requestedBy: recalled.createdBy,
    });
    expect(approval.policy.explanation.join(' ')).not.toBe('');
    expect(mail.received).toEqual([]);

    expect((await desk.approve(approval.approvalId)).status).toBe(200);
    expectUnbroken(await desk.until(directiveId, 'executed'));
    expect(mail.received).toHaveLength(1);
  });

  it('is looked at again after a kill and its revert', async () => {
    const { orderId, directiveId } = await waiting();
    expect((await desk.kill()).status).toBe(200);
    expect((await workspace.owner.delete(`/standing-orders/${orderId}`)).status).toBe(200);
    isBusy = false;
    await desk.revert();
    const recalled = await desk.until(directiveId, 'pending_approval');
    expectUnbroken(recalled);
    expect(recalled.history.map(({ to }: { to: string }) => to)).toEqual([
      'queued',
      'executing',
      'sending',
      'halted',
      'sending',
      'pending_approval',
    ]);
    expect(mail.received).toEqual([]);
  });

  it('waits while the guardian only observes, and leaves when it no longer does', async () => {
    const { directiveId, workPacketId } = await waiting();
    await desk.mode('observe');
    await tryAgain(workPacketId);
    await eventually(
      () => test.rows(`select 1 from work_items where id = $1 and due_at = 'infinity'`, [workPacketId]),
      (rows) => rows.length === 1,
    );
    expect(mail.received).toEqual([]);
    await desk.mode('guardrailed');
    await desk.until(directiveId, 'executed');
    expect(mail.received).toHaveLength(1);
  });

  it('is not sent after the deadline of its directive', async () => {
    const { directiveId, workPacketId } = await waiting();
    await test.rows(`update directives set deadline = now() - interval '1 second' where directive_id = $1`, [
      directiveId,
    ]);
    await tryAgain(workPacketId);
    expectUnbroken(await desk.until(directiveId, 'expired'));
    expect(await packetOf(directiveId)).toMatchObject({
      status: 'cancelled',
      result: { error: { code: 'DEADLINE_PASSED' } },
    });
    expect(mail.received).toEqual([]);
  });
});

describe('a mail that a person approved', () => {
  /** Approved, and waiting for its next try. */
  async function approved() {
    const { directiveId, approvalId } = await desk.handInReady();
    expect((await desk.approve(approvalId)).status).toBe(200);
    return { directiveId, workPacketId: await untilRefused(directiveId) };
  }

  it('leaves though no order covers it', async () => {
    const { directiveId, workPacketId } = await approved();
    await tryAgain(workPacketId);
    await desk.until(directiveId, 'executed');
    expect(mail.received).toHaveLength(1);
  });

  it('is denied when an order that denies it has come into force', async () => {
    const { directiveId, workPacketId } = await approved();
    await orders.active(NO_MAIL, workspace.owner);
    await tryAgain(workPacketId);
    const { error } = await desk.until(directiveId, 'failed');
    const { decision, ...packet } = await packetOf(directiveId);
    expect(packet).toMatchObject({ status: 'denied' });
    expect(mail.received).toEqual([]);
    // Which order forbade it, for whoever was told that it is on its way.
    expect(error).toEqual({ code: 'POLICY_DENIED', message: decision.explanation.join(' ') });
    expect(error.message).toContain(NO_MAIL.name);
    const signals = await test.rows(
      'select severity, title, body, entity from signals where workspace_id = $1',
      [workspace.workspaceId],
    );
    expect(signals).toMatchObject([
      {
        severity: 'warning',
        title: expect.stringMatching(/^Not sent though approved: /),
        body: expect.stringContaining(NO_MAIL.name),
        entity: { type: 'directive', id: directiveId },
      },
    ]);
  });
});
