import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { type MailServer, startMailServer } from '../mail/mail-server.js';
import { Desk, DOCUMENT } from './desk.js';

/** Long, and nothing but beginnings of what the rules look for. */
const TANGLED = 'Email it. and then tell “her, To: „ a@ '.repeat(200);
const LETTERS = 'a'.repeat(118);

describe('with the built-in capo', () => {
  let test: TestApp;
  let desk: Desk;
  beforeAll(async () => {
    test = await startTestApp();
    desk = new Desk(test);
  });
  afterAll(() => test.close());

  it(
    'a text of nothing but beginnings is drafted, and others go on meanwhile',
    { timeout: 60_000 },
    async () => {
      const hostile = Array.from({ length: 3 }, () => desk.handIn({ text: TANGLED, capo: 'capo_marketing' }));
      const others = Array.from({ length: 20 }, () => desk.handIn({ text: DOCUMENT, capo: 'capo_ops' }));
      for (const { approvalId } of await Promise.all([...others, ...hostile])) {
        const approval = await eventually(
          () => desk.approval(approvalId),
          ({ ready }) => ready,
          30,
        );
        expect(approval.status).toBe('pending');
      }
    },
  );

  it('a text with an emoji where its title is cut is taken', async () => {
    const { approvalId } = await desk.handIn({ text: `${LETTERS}🎩 and more`, capo: 'capo_ops' });
    expect((await desk.approval(approvalId)).title).toBe(`${LETTERS}…`);
  });
});

describe('with a model and a mail server', () => {
  const model = new LLMock({ port: 0, logLevel: 'silent' });
  let mail: MailServer;
  let test: TestApp;
  let desk: Desk;
  beforeAll(async () => {
    await model.start();
    mail = await startMailServer({ recipient: () => ({ code: 550, text: 'no such person' }) });
    test = await startTestApp({
      MODEL_PROVIDER: 'openai-compatible',
      MODEL_BASE_URL: `${model.url}/v1`,
      MODEL_NAME: 'test-model',
      SMTP_URL: mail.url,
      MAIL_FROM: 'Acme <ops@acme.example>',
    });
    desk = new Desk(test);
  });
  afterAll(async () => {
    await test.close();
    await mail.close();
    await model.stop();
  });

  const answers = (packet: object) => {
    model.reset();
    const packets = [{ target: 'as asked', rationale: 'It is asked for.', multipliers: [], ...packet }];
    model.on({}, { content: JSON.stringify({ summary: 'Ready.', body: 'Ready.', packets }) });
  };

  it('a refused mail whose title is cut inside an emoji in the signal about it ends as failed', async () => {
    // "Not carried out: " and 182 letters are 199 of the 200 characters of a signal's title.
    const title = `${'a'.repeat(182)}🎩`;
    const params = { to: ['jane@acme.example'], cc: null, subject: 'Hello', body: 'Hello' };
    answers({ type: 'email.send', title, params });
    const { directiveId, approvalId } = await desk.handInReady({ text: 'Mail Jane.', capo: 'capo_ops' });
    expect((await desk.approve(approvalId)).status).toBe(200);
    await desk.until(directiveId, 'failed');
    const [packet] = await desk.packets(directiveId);
    expect(packet).toMatchObject({ status: 'failed', title, attempts: 1 });
    expect(await test.rows('select title from signals')).toEqual([
      { title: `Not carried out: ${'a'.repeat(182)}…` },
    ]);
  });

  it('a delegated text with an emoji where its title is cut becomes a directive', async () => {
    const params = { directive: `${LETTERS}🎩 and more`, capo: 'capo_ops', priority: null };
    answers({ type: 'directive.create', title: 'For Ops', params });
    const { directiveId, approvalId } = await desk.handInReady({ text: 'Let Ops do it.', capo: 'ceo' });
    expect((await desk.approve(approvalId)).status).toBe(200);
    const done = await desk.until(directiveId, 'executed');
    const [packet] = await desk.packets(done.directiveId);
    const delegated = await desk.directive(packet.result.directiveId);
    expect(delegated.directive).toBe(params.directive);
    expect((await desk.approval(delegated.approvalId)).title).toBe(`${LETTERS}…`);
  });
});
