import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually, startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';
import { untilSwept } from '../../support/sweep.js';
import { type MailServer, startMailServer } from '../mail/mail-server.js';
import { MAIL_TO_ACME, NO_MAIL, OrderDesk } from '../standing-orders/order-desk.js';
import { Desk, expectUnbroken } from './desk.js';

const packetTo = (name: string) => ({
  title: `Mail to ${name}`,
  type: 'email.send',
  target: `${name}@acme.example`,
  params: { to: [`${name}@acme.example`], cc: null, subject: 'Friday', body: 'It arrives on Friday.' },
  rationale: 'The directive asks for it.',
  multipliers: [],
});
const content = JSON.stringify({
  summary: 'Two mails.',
  body: 'Two mails.',
  packets: [packetTo('jane'), packetTo('bob')],
});

/** A directive with two mails that a standing order allowed, of which one or both are asked to come again later. */
const model = new LLMock({ port: 0, logLevel: 'silent' });
const busy = new Set<string>();
let mail: MailServer;
let test: TestApp;
let orders: OrderDesk;
let workspace: TestWorkspace;
let desk: Desk;

beforeAll(async () => {
  await model.start();
  mail = await startMailServer({
    recipient: (address) => (busy.has(address) ? { code: 451, text: 'Try again later' } : undefined),
  });
  test = await startTestApp({
    MODEL_PROVIDER: 'openai-compatible',
    MODEL_BASE_URL: `${model.url}/v1`,
    MODEL_NAME: 'test-model',
    SMTP_URL: mail.url,
    MAIL_FROM: 'Acme <ops@acme.example>',
  });
  orders = new OrderDesk(test);
});
afterAll(async () => {
  await test.close();
  await mail.close();
  await model.stop();
});
beforeEach(async () => {
  model.reset();
  model.on({}, { content });
  busy.clear();
  mail.received.length = 0;
  workspace = await test.createWorkspace();
  desk = new Desk(test, workspace.owner.token);
});

const sentTo = () => mail.received.flatMap(({ to }) => to).toSorted();

/** Hands the directive in and waits until `waiting` of its mails wait for their next try; answers it and its order. */
async function handIn(waiting: string[]) {
  for (const name of waiting) busy.add(`${name}@acme.example`);
  const orderId = await orders.active(MAIL_TO_ACME, workspace.owner);
  const { body } = await desk.client.post('/directives', {
    directive: 'Tell jane@acme.example and bob@acme.example.',
    capo: 'capo_ops',
    requiresApproval: false,
  });
  const { directiveId } = body;
  const items = await eventually(
    () =>
      test.rows<{ id: string }>(
        `select i.id from work_items i join work_packets p on p.work_packet_id = i.id
         where p.directive_id = $1 and i.failures > 0 and not i.claimed`,
        [directiveId],
      ),
    (rows) => rows.length === waiting.length,
  );
  await eventually(async () => mail.received.length === 2 - waiting.length);
  await test.rows(`update work_items set due_at = now() + interval '1 hour' where id = any($1)`, [
    items.map(({ id }) => id),
  ]);
  return { directiveId, orderId };
}

/** The order goes, the mail server takes mail again, and every waiting mail is due at the same moment. */
async function archiveAndTryAgain(orderId: string): Promise<void> {
  expect((await workspace.owner.delete(`/standing-orders/${orderId}`)).status).toBe(200);
  busy.clear();
  await test.rows('update work_items set due_at = now() where workspace_id = $1', [workspace.workspaceId]);
  await test.rows(`select pg_notify('consigliere', $1)`, [
    JSON.stringify({
      topic: 'work',
      workspaceId: workspace.workspaceId,
      id: `packet.send ${workspace.workspaceId}`,
    }),
  ]);
}

describe('two mails that are no longer allowed', () => {
  it('are brought before a person together, and each leaves once', async () => {
    const { directiveId, orderId } = await handIn(['jane', 'bob']);
    await archiveAndTryAgain(orderId);
    const { approvalId } = await desk.until(directiveId, 'pending_approval');
    const approval = await desk.ready(approvalId);
    expect(
      approval.packets.map((packet: { action: { target: string } }) => packet.action.target).toSorted(),
    ).toEqual(['bob@acme.example', 'jane@acme.example']);
    expect(mail.received).toEqual([]);
    // Whom to tell of the approval is work of its own, and may still be under way.
    expect(
      await test.rows(`select id from work_items where workspace_id = $1 and kind like 'packet.%'`, [
        workspace.workspaceId,
      ]),
    ).toEqual([]);

    expect((await desk.approve(approvalId)).status).toBe(200);
    expectUnbroken(await desk.until(directiveId, 'executed'));
    expect(sentTo()).toEqual(['bob@acme.example', 'jane@acme.example']);
  });
});

describe('a mail that is no longer allowed after the one beside it was sent', () => {
  async function recalled() {
    const { directiveId, orderId } = await handIn(['bob']);
    await archiveAndTryAgain(orderId);
    const { approvalId } = await desk.until(directiveId, 'pending_approval');
    await desk.ready(approvalId);
    return { directiveId, approvalId };
  }

  it('can be rejected: the directive ends as the other mail did', async () => {
    const { directiveId, approvalId } = await recalled();
    expect((await desk.reject(approvalId)).status).toBe(200);
    expectUnbroken(await desk.until(directiveId, 'executed'));
    expect((await desk.packets(directiveId)).map(({ status }) => status).toSorted()).toEqual([
      'cancelled',
      'executed',
    ]);
    expect(await desk.actions(directiveId)).toContain('directive.rest_dropped');
    expect(sentTo()).toEqual(['jane@acme.example']);
  });

  it('cannot be drafted again, which would send the other twice, and cannot be cancelled', async () => {
    const { directiveId, approvalId } = await recalled();
    const revised = await desk.reject(approvalId, { feedback: 'Shorter.', revise: true } as never);
    expect([revised.status, revised.body.error.code]).toEqual([409, 'INVALID_TRANSITION']);
    expect((await desk.client.post(`/directives/${directiveId}/cancel`)).status).toBe(409);
    expect(await desk.approval(approvalId)).toMatchObject({ status: 'pending' });
  });

  it('ends with the deadline, and leaves no work behind', async () => {
    const { directiveId, approvalId } = await recalled();
    await test.rows(`update directives set deadline = now() - interval '1 second' where directive_id = $1`, [
      directiveId,
    ]);
    expectUnbroken(await desk.until(directiveId, 'executed'));
    expect(await desk.approval(approvalId)).toMatchObject({ status: 'expired' });
    await untilSwept(test);
    expect(
      await test.rows('select 1 from work_items where workspace_id = $1', [workspace.workspaceId]),
    ).toEqual([]);
    expect(sentTo()).toEqual(['jane@acme.example']);
  });
});

describe('a mail that may have been sent when its process ended', () => {
  it.each([
    ['is no longer allowed', (orderId: string) => workspace.owner.delete(`/standing-orders/${orderId}`)],
    ['is denied', () => orders.active(NO_MAIL, workspace.owner)],
  ])('is unconfirmed, and not asked about as if it had not, when it %s', async (_why, change) => {
    const { directiveId, orderId } = await handIn(['jane', 'bob']);
    await change(orderId);
    await test.rows(
      `update work_packets set status = 'sending', sending_since = now(), attempts = attempts + 1
       where directive_id = $1`,
      [directiveId],
    );
    busy.clear();
    await test.rows(
      `update work_items set claimed = true, claimed_by = 'another process', due_at = now() where workspace_id = $1`,
      [workspace.workspaceId],
    );
    expectUnbroken(await desk.until(directiveId, 'failed'));
    for (const packet of await desk.packets(directiveId)) {
      expect(packet).toMatchObject({ status: 'failed', result: { error: { code: 'UNCONFIRMED' } } });
    }
    expect(mail.received).toEqual([]);
  });
});
