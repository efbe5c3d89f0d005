import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { untilSwept } from '../../support/sweep.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { expectUnbroken } from '../directives/desk.js';
import { type MailServer, startMailServer } from '../mail/mail-server.js';
import { NO_MAIL, OrderDesk } from '../standing-orders/order-desk.js';
import { EscalationDesk } from './escalation-desk.js';

/** What a person is asked about work packets that failed. */
let test: TestApp;
let mail: MailServer;
let desk: EscalationDesk;
let orders: OrderDesk;
/** How the mail server refuses every recipient; null: not at all. */
let refusal: 'for good' | 'for now' | null;
const REFUSALS = { 'for good': { code: 550, text: 'No such user' }, 'for now': { code: 451, text: 'Later' } };

beforeAll(async () => {
  mail = await startMailServer({
    recipient: () => (refusal ? REFUSALS[refusal] : undefined),
  });
  test = await startTestApp({ SMTP_URL: mail.url, MAIL_FROM: 'Acme <ops@acme.example>' });
  orders = new OrderDesk(test);
});
afterAll(async () => {
  await test.close();
  await mail.close();
});
beforeEach(async () => {
  refusal = 'for good';
  mail.received.length = 0;
  desk = await EscalationDesk.ofOwn(test);
});

const packetOf = async (directiveId: string) => (await desk.packets(directiveId))[0]!;

/** A mail that a person approved and the mail server refused, with its escalation. */
async function refused(by = desk, body?: object) {
  const { directiveId, approvalId } = await by.handInReady(body);
  expect((await by.approve(approvalId)).status).toBe(200);
  await by.until(directiveId, 'failed');
  const { workPacketId } = (await by.packets(directiveId))[0]!;
  return { directiveId, workPacketId, escalation: await by.opened(directiveId, 'packet_failed') };
}

/** A mail whose process ended while it was being sent, before or under a kill: nobody here knows whether it arrived. */
async function cutOff(isKilled = false) {
  refusal = 'for now';
  const { directiveId, approvalId } = await desk.handInReady();
  expect((await desk.approve(approvalId)).status).toBe(200);
  const [item] = await eventually(
    () =>
      test.rows<{ id: string }>(
        `select id from work_items where workspace_id = $1 and kind = 'packet.send' and failures > 0 and not claimed`,
        [desk.workspaceId],
      ),
    (rows) => rows.length === 1,
  );
  const workPacketId = item!.id;
  // Claimed by a process that is gone: another finds it when the lease is over.
  await test.rows(
    `update work_items set claimed = true, claimed_by = 'another process', due_at = now() + interval '1 hour' where id = $1`,
    [workPacketId],
  );
  await test.rows(
    `update work_packets set status = 'sending', sending_since = now(), attempts = attempts + 1 where work_packet_id = $1`,
    [workPacketId],
  );
  refusal = null;
  if (isKilled) await desk.kill();
  await test.rows('update work_items set due_at = now() where id = $1', [workPacketId]);
  return { directiveId, workPacketId };
}

describe('a work packet that certainly did not leave', () => {
  it('is escalated once for its directive, with what it says', async () => {
    const { directiveId, escalation } = await refused();
    expect(await desk.escalation(escalation.id)).toMatchObject({
      kind: 'packet_failed',
      status: 'open',
      entity: { type: 'directive', id: directiveId },
      directiveId,
      teamId: null,
      reason: expect.stringMatching(/^A work packet of ".+" failed and was not sent: .*No such user/),
      options: ['retry', 'dismiss'],
      count: 1,
      dueAt: null,
    });
    expect(await desk.actionsAbout(escalation.id)).toEqual(['escalation.opened']);
  });

  it('is sent again by retry, through the same check as before', async () => {
    const { directiveId, workPacketId, escalation } = await refused();
    refusal = null;
    const decided = await desk.decided(escalation.id, 'retry', 'They have a mailbox now.');
    expect(decided).toMatchObject({ status: 'resolved', decision: 'retry' });
    const executed = await desk.until(directiveId, 'executed');
    expectUnbroken(executed);
    expect(executed).toMatchObject({ error: null });
    expect(mail.received).toHaveLength(1);
    expect(await packetOf(directiveId)).toMatchObject({ workPacketId, status: 'executed', attempts: 2 });
    const actions = await desk.actions(directiveId);
    expect(actions.slice(actions.indexOf('packet.failed'))).toEqual([
      'packet.failed',
      'directive.failed',
      'escalation.opened',
      'directive.sending_again',
      'escalation.decided',
      'packet.executed',
      'directive.executed',
    ]);
    expect((await desk.decided(escalation.id, 'retry')).decidedAt).toBe(decided.decidedAt);
    expect(mail.received).toHaveLength(1);
  });

  it('is drafted again by POST /directives/{id}/retry, which answers the escalation', async () => {
    const { directiveId, workPacketId, escalation } = await refused();
    refusal = null;
    const answer = await desk.client.post(`/directives/${directiveId}/retry`);
    expect([answer.status, answer.body.status], answer.text).toEqual([200, 'pending_approval']);
    const { approvalId } = answer.body;
    await desk.ready(approvalId);
    expect(await desk.escalation(escalation.id)).toMatchObject({ status: 'resolved' });
    expect((await desk.approve(approvalId)).status).toBe(200);
    expectUnbroken(await desk.until(directiveId, 'executed'));
    expect(mail.received).toHaveLength(1);
    const packets = (await desk.packets(directiveId)) as { workPacketId: string; status: string }[];
    const statuses = packets.map((packet) => [packet.workPacketId === workPacketId, packet.status]);
    expect(statuses.toSorted()).toEqual([
      [false, 'executed'],
      [true, 'cancelled'],
    ]);
  });

  it('is escalated again when the retry fails as well', async () => {
    const { directiveId, escalation } = await refused();
    await desk.decided(escalation.id, 'retry');
    await eventually(
      () => desk.about(directiveId),
      (all) => all.length === 2 && all[1]!.status === 'open',
    );
    expect(mail.received).toEqual([]);
  });

  it('is denied, and not sent, when an order denies it by now', async () => {
    const { directiveId, escalation } = await refused();
    refusal = null;
    await orders.active(NO_MAIL, desk.client);
    await desk.decided(escalation.id, 'retry');
    await eventually(
      () => packetOf(directiveId),
      ({ status }) => status === 'denied',
    );
    expect(mail.received).toEqual([]);
  });

  it('stays failed when it is dismissed', async () => {
    const { directiveId, escalation } = await refused();
    expect(await desk.decided(escalation.id, 'dismiss')).toMatchObject({ status: 'dismissed' });
    expect(await desk.directive(directiveId)).toMatchObject({ status: 'failed' });
    expect((await desk.decide(escalation.id, 'retry')).status).toBe(409);
  });

  it('is not sent again while killed: 423', async () => {
    const { directiveId, escalation } = await refused();
    await desk.kill();
    const answer = await desk.decide(escalation.id, 'retry');
    expect(answer.status).toBe(423);
    expect(await desk.directive(directiveId)).toMatchObject({ status: 'failed' });
    expect(await desk.escalation(escalation.id)).toMatchObject({ status: 'open' });
  });

  it('is not sent again after the deadline: 409', async () => {
    const { directiveId, escalation } = await refused();
    await test.rows(`update directives set deadline = now() where directive_id = $1`, [directiveId]);
    expect((await desk.decide(escalation.id, 'retry')).status).toBe(409);
    expect(await desk.escalation(escalation.id)).toMatchObject({ status: 'open' });
  });

  it('is carried out once when two decide at the same moment', async () => {
    const { directiveId, escalation } = await refused();
    refusal = null;
    const answers = await Promise.all([1, 2, 3].map(() => desk.decide(escalation.id, 'retry')));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    await desk.until(directiveId, 'executed');
    expect(mail.received).toHaveLength(1);
    const actions = await desk.actions(directiveId);
    expect(actions.filter((action) => action === 'directive.sending_again')).toHaveLength(1);
  });
});

describe('an outage', () => {
  it('is one escalation beyond the first twenty, and all that failed is sent again by it', async () => {
    const first = await refused();
    const directiveIds = [first.directiveId];
    for (let n = 1; n < 24; n++) {
      const { directiveId, approvalId } = await desk.handInReady();
      await desk.approve(approvalId);
      directiveIds.push(directiveId);
    }
    for (const directiveId of directiveIds) await desk.until(directiveId, 'failed');
    const { items, total } = await desk.list('?limit=100');
    expect(total).toBe(21);
    const together = items.filter((one: any) => one.entity.type === 'failed_directives');
    expect(together).toMatchObject([
      { kind: 'packet_failed', entity: { id: desk.workspaceId }, count: 4, options: ['retry', 'dismiss'] },
    ]);
    refusal = null;
    const { escalationId } = together[0];
    const { outcome } = await desk.decided(escalationId, 'retry');
    expect(outcome).toContain('4 failed directives');
    await eventually(
      async () => mail.received.length,
      (sent) => sent === 4,
    );
    const executed = await eventually(
      () =>
        test.rows(`select 1 from directives where directive_id = any($1) and status = 'executed'`, [
          directiveIds,
        ]),
      (rows) => rows.length === 4,
    );
    expect(executed).toHaveLength(4);
    // Who decided stands in the receipt of each.
    const again = await test.rows<{ body: string }>(
      `select body from receipts where workspace_id = $1 and action = 'directive.sending_again'`,
      [desk.workspaceId],
    );
    expect(again.map(({ body }) => JSON.parse(body).actor.type)).toEqual(Array(4).fill('member'));
    expect(await test.rows(`select 1 from directives where escalation_id is not null`)).toEqual([]);
  }, 60_000);
});

describe('a work packet of which nobody can tell whether it arrived', () => {
  const unconfirmed = async () => {
    const { directiveId, workPacketId } = await cutOff();
    await desk.until(directiveId, 'failed');
    return { directiveId, workPacketId, escalation: await desk.opened(workPacketId, 'packet_failed') };
  };

  it('is escalated by itself, and offers no retry', async () => {
    const { directiveId, workPacketId, escalation } = await unconfirmed();
    expect(escalation.options).toEqual(['arrived', 'did_not_arrive', 'dismiss']);
    expect(await desk.escalation(escalation.id)).toMatchObject({
      entity: { type: 'work_packet', id: workPacketId },
      directiveId,
      reason: expect.stringContaining('it is not known whether it arrived'),
    });
    expect(await desk.about(directiveId)).toEqual([]);
    expect((await desk.decide(escalation.id, 'retry')).status).toBe(422);
  });

  it('is executed once a person says that it arrived, and nothing is sent', async () => {
    const { directiveId, workPacketId, escalation } = await unconfirmed();
    await desk.decided(escalation.id, 'arrived', 'Jane has answered it.');
    expectUnbroken(await desk.until(directiveId, 'executed'));
    const packet = await packetOf(directiveId);
    expect(packet).toMatchObject({ status: 'executed', result: { confirmedBy: { type: 'member' } } });
    expect((await desk.receipts(workPacketId)).at(-1)).toMatchObject({
      action: 'packet.confirmed',
      actor: { type: 'member' },
      details: { failed: { code: 'UNCONFIRMED' } },
    });
    await untilSwept(test);
    expect(mail.received).toEqual([]);
  });

  it('stays failed once a person says that it did not', async () => {
    const { directiveId, workPacketId, escalation } = await unconfirmed();
    await desk.decided(escalation.id, 'did_not_arrive');
    expect(await packetOf(directiveId)).toMatchObject({
      status: 'failed',
      result: { error: { code: 'NOT_ARRIVED' } },
    });
    expect(await desk.actionsAbout(workPacketId)).toContain('packet.not_arrived');
    await untilSwept(test);
    expect(mail.received).toEqual([]);
    expect((await desk.decide(escalation.id, 'arrived')).status).toBe(409);
  });
});

describe('a kill of which nobody can tell what it came before', () => {
  const unconfirmed = async () => {
    const { directiveId, workPacketId } = await cutOff(true);
    return { directiveId, workPacketId, escalation: await desk.opened(workPacketId, 'kill_unconfirmed') };
  };

  it('is escalated while killed, and the work packet waits', async () => {
    const { directiveId, workPacketId, escalation } = await unconfirmed();
    expect(escalation.options).toEqual(['arrived', 'send_again', 'dismiss']);
    expect(await packetOf(directiveId)).toMatchObject({ status: 'sending' });
    expect(await desk.directive(directiveId)).toMatchObject({ status: 'halted' });
    // After the revert it is failed, and still the one escalation.
    await desk.revert();
    await desk.until(directiveId, 'failed');
    expect(await desk.about(workPacketId)).toMatchObject([{ id: escalation.id, status: 'open' }]);
  });

  it('arrived: it is executed, and its directive with the revert', async () => {
    const { directiveId, workPacketId, escalation } = await unconfirmed();
    await desk.decided(escalation.id, 'arrived');
    expect(await packetOf(directiveId)).toMatchObject({ status: 'executed' });
    expect(await desk.directive(directiveId)).toMatchObject({ status: 'halted' });
    expect(await desk.actionsAbout(workPacketId)).toContain('packet.confirmed');
    await desk.revert();
    expectUnbroken(await desk.until(directiveId, 'executed'));
    await untilSwept(test);
    expect(mail.received).toEqual([]);
  });

  it('send_again: it is halted, and sent with the revert', async () => {
    const { directiveId, escalation } = await unconfirmed();
    await desk.decided(escalation.id, 'send_again');
    expect(await packetOf(directiveId)).toMatchObject({ status: 'halted' });
    await untilSwept(test);
    expect(mail.received).toEqual([]);
    await desk.revert();
    expectUnbroken(await desk.until(directiveId, 'executed'));
    expect(mail.received).toHaveLength(1);
  });

  it('send_again after the revert: it is sent again at once', async () => {
    const { directiveId, escalation } = await unconfirmed();
    await desk.revert();
    await desk.until(directiveId, 'failed');
    await desk.decided(escalation.id, 'send_again');
    expectUnbroken(await desk.until(directiveId, 'executed'));
    expect(mail.received).toHaveLength(1);
  });

  it('send_again under another kill, when its directive has ended: 423', async () => {
    const { directiveId, escalation } = await unconfirmed();
    await desk.revert();
    await desk.until(directiveId, 'failed');
    await desk.kill();
    expect((await desk.decide(escalation.id, 'send_again')).status).toBe(423);
    expect(await desk.escalation(escalation.id)).toMatchObject({ status: 'open' });
  });

  it('dismissed: it stays as it is', async () => {
    const { directiveId, escalation } = await unconfirmed();
    await desk.decided(escalation.id, 'dismiss');
    expect(await packetOf(directiveId)).toMatchObject({ status: 'sending' });
  });
});
