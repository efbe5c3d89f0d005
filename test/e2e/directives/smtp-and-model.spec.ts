import { LLMock } from '@copilotkit/aimock';
import PostalMime from 'postal-mime';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KILLED_TOPIC } from '../../../src/features/guardian/guardian.js';
import { Channel } from '../../../src/platform/database/channel.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { untilSwept } from '../../support/sweep.js';
import { Wire } from '../../support/wire.js';
import { type MailServer, startMailServer } from '../mail/mail-server.js';
import { Desk, expectUnbroken } from './desk.js';

const usage = { prompt_tokens: 900, completion_tokens: 120 };
const BODY = 'Hello Jane,\n\nthe delivery arrives on **Friday**.\n\nYours';
const PACKET = {
  title: 'Mail to Jane',
  type: 'email.send',
  target: 'jane@acme.example',
  params: { to: ['jane@acme.example'], cc: null, subject: 'Delivery on Friday – größer', body: BODY },
  rationale: 'The directive asks for it.',
  multipliers: [{ name: 'priority', value: 1.5 }],
};
const content = JSON.stringify({ summary: 'A mail is ready.', body: BODY, packets: [PACKET] });

const model = new LLMock({ port: 0, logLevel: 'silent' });
let wire: Wire;
let mail: MailServer;
let test: TestApp;
let desk: Desk;
/** What a model does that never answers in a test's time. */
let hanging: PromiseWithResolvers<void>;

beforeAll(async () => {
  await model.start();
  wire = await Wire.to(Number(new URL(model.url).port));
  mail = await startMailServer();
  test = await startTestApp({
    MODEL_PROVIDER: 'openai-compatible',
    MODEL_BASE_URL: `http://127.0.0.1:${wire.port}/v1`,
    MODEL_NAME: 'test-model',
    MODEL_PRICE_INPUT: '0.15',
    MODEL_PRICE_OUTPUT: '0.07',
    SMTP_URL: mail.url,
    MAIL_FROM: 'Acme <ops@acme.example>',
  });
  desk = new Desk(test);
});
afterAll(async () => {
  await test.close();
  await mail.close();
  wire.close();
  await model.stop();
});
beforeEach(() => {
  hanging = Promise.withResolvers<void>();
  model.reset();
  mail.received.length = 0;
});

afterEach(() => hanging.resolve());

describe('the main job with a model and a mail server', () => {
  it("leads from the model's draft to exactly the approved bytes, and counts the tokens", async () => {
    model.on({}, { content, usage });
    const { directiveId, approvalId, approval } = await desk.handInReady({
      text: 'Tell Jane when it arrives.',
      capo: 'capo_ops',
    });
    expect(approval.packets).toMatchObject([
      {
        action: { type: 'email.send', params: { to: ['jane@acme.example'], subject: PACKET.params.subject } },
      },
    ]);
    expect(mail.received).toEqual([]);

    expect((await desk.approve(approvalId, { 'If-Match': approval.contentHash })).status).toBe(200);
    const done = await desk.until(directiveId, 'executed');
    expect(done).toMatchObject({
      engine: { name: 'openai-compatible', model: 'test-model' },
      // 900 × 0.15 + 120 × 0.07 dollars for a million of each.
      cost: { amount: 0.000143, currency: 'USD', tokensIn: 900, tokensOut: 120 },
      output: { remarks: { text: 'A mail is ready.' } },
      error: null,
    });
    expectUnbroken(done);
    const figures = await (await fetch(`${test.url}/metrics`)).text();
    expect(figures).toMatch(/^consigliere_model_cost_usd_total 0\.000143$/m);
    expect(figures).toMatch(/^consigliere_model_tokens_total 1020$/m);

    expect(mail.received).toHaveLength(1);
    const [{ from, to, bytes }] = mail.received as [MailServer['received'][number]];
    expect({ from, to }).toEqual({ from: 'ops@acme.example', to: ['jane@acme.example'] });
    const parsed = await PostalMime.parse(bytes);
    expect(parsed).toMatchObject({
      subject: 'Delivery on Friday – größer',
      to: [{ address: 'jane@acme.example', name: '' }],
    });
    expect(parsed.text?.trim()).toBe(BODY);
    expect(parsed.html).toBeUndefined();
    const [packet] = await desk.packets(directiveId);
    expect(packet).toMatchObject({
      status: 'executed',
      attempts: 1,
      result: { accepted: ['jane@acme.example'] },
    });
  });

  it('fails the directive when the model proposes a work packet outside its scope, and sends nothing', async () => {
    model.on({}, { content, usage });
    const { directiveId, approvalId } = await desk.handIn({
      text: 'Mail Jane about it.',
      capo: 'capo_product',
    });
    const failed = await desk.until(directiveId, 'failed');
    expect(failed).toMatchObject({ error: { code: 'INVALID_OUTPUT' }, output: null, workPacketIds: [] });
    // Both calls, the first and the repair, were paid for.
    expect(failed.cost).toEqual({ amount: 0.000286, currency: 'USD', tokensIn: 1800, tokensOut: 240 });
    expectUnbroken(failed);
    expect(await desk.approval(approvalId)).toMatchObject({ status: 'cancelled', ready: false });
    expect((await desk.approve(approvalId)).status).toBe(409);
    expect(await desk.actions(directiveId)).toEqual([
      'directive.created',
      'approval.requested',
      'directive.started',
      'directive.draft_failed',
      'approval.cancelled',
      'directive.failed',
    ]);
    expect(mail.received).toEqual([]);
  });

  it('fails at once what the provider refuses for good', async () => {
    model.on({}, { error: { message: 'overloaded', type: 'error' }, status: 400 });
    const refused = await desk.handIn({ text: 'Mail Jane.', capo: 'capo_ops' });
    expect(await desk.until(refused.directiveId, 'failed')).toMatchObject({
      error: {
        code: 'REQUEST_REJECTED',
        message: 'The model provider answered with status 400: “overloaded”',
      },
    });
    expect(model.getRequests()).toHaveLength(1);
  });
});

describe('the kill switch', () => {
  it('cuts a model call in progress, and the revert has it drafted again', async () => {
    let calls = 0;
    model.on({}, async () => {
      if (++calls === 1) await hanging.promise;
      return { content, usage };
    });
    const { directiveId, approvalId } = await desk.handIn({ text: 'Mail Jane.', capo: 'capo_ops' });
    await eventually(
      async () => calls,
      (count) => count === 1,
    );
    const [call] = wire.open();

    expect((await desk.kill('the model rambles')).body).toMatchObject({ mode: 'killed', changed: true });
    await call!.closed;

    await untilSwept(test);
    expect(await desk.directive(directiveId)).toMatchObject({
      status: 'pending_approval',
      output: null,
      workPacketIds: [],
      // What it was sent had been read by then.
      cost: { tokensIn: expect.toSatisfy((tokens: number) => tokens > 0), tokensOut: 0 },
    });
    expect(await desk.approval(approvalId)).toMatchObject({ status: 'pending', ready: false });
    expect(calls).toBe(1);

    await desk.revert();
    const approval = await desk.ready(approvalId);
    expect(calls).toBe(2);
    expect((await desk.approve(approvalId, { 'If-Match': approval.contentHash })).status).toBe(200);
    expectUnbroken(await desk.until(directiveId, 'executed'));
    expect(mail.received).toHaveLength(1);
  });

  it('cuts the work on a directive without approval too, and the revert has it drafted again', async () => {
    let calls = 0;
    model.on({}, async () => {
      if (++calls === 1) await hanging.promise;
      return { content, usage };
    });
    const { body } = await desk.client.post('/directives', {
      directive: 'Mail Jane.',
      capo: 'capo_ops',
      requiresApproval: false,
    });
    const { directiveId } = body;
    await eventually(
      async () => calls,
      (count) => count === 1,
    );
    expect(await desk.directive(directiveId)).toMatchObject({ status: 'executing' });
    expect((await desk.kill()).body.halted).toEqual({ queued: 0, executing: 1, sending: 0, voided: 0 });
    expect(await desk.directive(directiveId)).toMatchObject({ status: 'halted' });
    await desk.revert();
    const reviewed = await desk.until(directiveId, 'pending_approval');
    expect(reviewed.history.map(({ to }: { to: string }) => to)).toEqual([
      'queued',
      'executing',
      'halted',
      'queued',
      'executing',
      'pending_approval',
    ]);
    expectUnbroken(reviewed);
    expect(calls).toBe(2);
  });
});

describe('a message of a kill that comes late', () => {
  it('cuts a draft that was begun after the revert, which is then made again', async () => {
    let calls = 0;
    model.on({}, async () => {
      if (++calls === 1) await hanging.promise;
      return { content, usage };
    });
    const { approvalId } = await desk.handIn({ text: 'Mail Jane.', capo: 'capo_ops' });
    await eventually(
      async () => calls,
      (count) => count === 1,
    );
    const { workspaceId } = test;
    test.app.get(Channel).publishNow({ topic: KILLED_TOPIC, workspaceId, id: workspaceId });
    await desk.ready(approvalId);
    expect(calls).toBe(2);
  });
});

describe('a late result', () => {
  it('is discarded', async () => {
    const answer = Promise.withResolvers<void>();
    let calls = 0;
    model.on({}, async () => {
      if (++calls === 1) await answer.promise;
      return { content: calls === 1 ? content.replaceAll('Friday', 'Monday') : content, usage };
    });
    const { directiveId, approvalId } = await desk.handIn({ text: 'Mail Jane.', capo: 'capo_ops' });
    await eventually(
      async () => calls,
      (count) => count === 1,
    );
    // Another process has it by now, with a lease of its own: nothing but the attempt tells the two apart.
    await test.rows(
      `update work_items set attempt = attempt + 1, due_at = now() + interval '1 hour' where id = $1`,
      [directiveId],
    );
    answer.resolve();
    await untilSwept(test);
    expect(await desk.directive(directiveId)).toMatchObject({ output: null, workPacketIds: [] });
    expect(await desk.approval(approvalId)).toMatchObject({ ready: false });

    // The other process dies, and its lease ends.
    await test.rows('update work_items set due_at = now() where id = $1', [directiveId]);
    await desk.ready(approvalId);
    const drafted = await desk.directive(directiveId);
    expect(drafted.output.body).toContain('Friday');
    expect(drafted.workPacketIds).toHaveLength(1);
  });
});
