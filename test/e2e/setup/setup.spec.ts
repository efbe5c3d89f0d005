import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LoopbackModel } from '../../support/loopback-model.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { type MailServer, startMailServer } from '../mail/mail-server.js';

const actionsOf = async (test: TestApp) =>
  (
    await test.rows<{ body: string }>(
      `select body from receipts where action like 'setup.%' and workspace_id = $1 order by seq`,
      [test.workspaceId],
    )
  ).map(({ body }) => JSON.parse(body) as { action: string; outcome: string; summary: string });

describe('an installation that nobody has set up', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp();
  });
  afterAll(() => test.close());

  it('GET /setup 200 answers how it is set up, with the lines that change it', async () => {
    const { status, body } = await test.owner.get('/setup');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      address: { works: false, remedy: expect.stringContaining('PUBLIC_URL=') },
      mail: { works: false, remedy: expect.stringContaining('SMTP_URL=') },
      model: { works: true, remedy: expect.stringContaining('MODEL_PROVIDER=') },
      isReachable: false,
      steps: { directive: false, approval: false, order: false, killDrill: false },
    });
    expect(body.address.found).toContain(test.url);
  });

  it('GET and POST 403 for an operator', async () => {
    const operator = await test.createMember(test.workspaceId, 'operator');
    expect((await operator.get('/setup')).status).toBe(403);
    expect((await operator.post('/setup/test-mail')).status).toBe(403);
    expect((await operator.post('/setup/test-model')).status).toBe(403);
    expect(await actionsOf(test)).toEqual([]);
  });

  it('POST /setup/test-mail 200 writes a file and says that it reaches nobody', async () => {
    const { status, body } = await test.owner.post('/setup/test-mail');
    expect([status, body.works]).toEqual([200, false]);
    expect(body.found).toContain('reaches nobody');
    expect(await readdir(join(test.dataDir, 'outbox'))).toHaveLength(1);
    expect(await actionsOf(test)).toMatchObject([{ action: 'setup.mail_tested', outcome: 'success' }]);
  });

  it('POST /setup/test-model 200 answers what the built-in runner does, and costs nothing', async () => {
    const { body } = await test.owner.post('/setup/test-model');
    expect(body).toMatchObject({ works: true, found: expect.stringContaining('built-in runner') });
    expect(await actionsOf(test)).toHaveLength(1);
  });

  it('ticks the first steps off as they are done, for this workspace alone', async () => {
    const { body } = await test.owner.post('/directives', {
      directive: 'Email jane@acme.example, subject "Tea": "At four."',
      capo: 'capo_ops',
    });
    const { contentHash } = (await test.owner.get(`/approvals/${body.approvalId}?wait=10`)).body;
    await test.owner.post(`/approvals/${body.approvalId}/approve`, undefined, {
      'If-Match': `"${contentHash}"`,
    });
    await test.owner.post('/standing-orders', {
      name: 'No posts',
      effect: 'deny',
      match: { actionTypes: ['message.post'] },
    });
    await test.owner.post('/guardian/killswitch');
    expect((await test.owner.get('/setup')).body.steps).toEqual({
      directive: true,
      approval: true,
      order: true,
      killDrill: true,
    });
    const { owner } = await test.createWorkspace();
    expect((await owner.get('/setup')).body.steps.directive).toBe(false);
  });
});

describe('an installation with a mail server and a model', () => {
  let test: TestApp;
  let mail: MailServer;
  let model: LoopbackModel;
  let refuses = false;
  beforeAll(async () => {
    mail = await startMailServer({
      recipient: () => (refuses ? { code: 550, text: 'No such user' } : undefined),
    });
    model = await LoopbackModel.start();
    test = await startTestApp({
      BOOTSTRAP_OWNER_EMAIL: 'mira@acme.example',
      SMTP_URL: mail.url,
      MAIL_FROM: 'Consigliere <consigliere@acme.example>',
      MODEL_PROVIDER: 'openai-compatible',
      MODEL_BASE_URL: model.url,
      MODEL_NAME: 'test-model',
    });
  });
  afterAll(async () => {
    await test.close();
    await mail.close();
    await model.stop();
  });

  it('GET /setup 200 has nothing to add', async () => {
    expect((await test.owner.get('/setup')).body).toMatchObject({
      mail: { works: true, remedy: null },
      model: { works: true, remedy: null },
      isReachable: true,
    });
  });

  it('POST /setup/test-mail 200 sends the caller a mail with a link to the dashboard', async () => {
    const { body } = await test.owner.post('/setup/test-mail');
    expect(body).toMatchObject({ works: true, found: expect.stringContaining('mira@acme.example') });
    const [{ to, bytes }] = mail.received as [(typeof mail.received)[number]];
    expect(to).toEqual(['mira@acme.example']);
    expect((await PostalMime.parse(bytes)).text).toContain(`${test.url}/`);
    expect(await actionsOf(test)).toMatchObject([{ action: 'setup.mail_tested', outcome: 'success' }]);
  });

  it('POST /setup/test-mail 200 answers the reply of a server that refuses it', async () => {
    refuses = true;
    const { body } = await test.owner.post('/setup/test-mail');
    refuses = false;
    expect(body).toMatchObject({ works: false, found: expect.stringContaining('No such user') });
    expect(body.remedy).toContain('SMTP_URL=');
    expect((await actionsOf(test)).at(-1)).toMatchObject({ outcome: 'failure' });
  });

  it('POST /setup/test-model 200 answers what the model said, and charges for it', async () => {
    model.reply = () => ({
      content: JSON.stringify({ sentence: 'Ready.' }),
      usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 },
    });
    expect((await test.owner.post('/setup/test-model')).body).toEqual({
      works: true,
      found: 'The model test-model answered: Ready.',
      remedy: null,
    });
    expect((await actionsOf(test)).at(-1)).toMatchObject({
      action: 'setup.model_tested',
      outcome: 'success',
    });
    expect(await test.rows('select tokens_in, tokens_out from model_charges')).toMatchObject([
      { tokens_in: '20', tokens_out: '5' },
    ]);
  });

  it('POST /setup/test-model 200 answers why a model cannot be asked', async () => {
    model.reply = () => ({ status: 401, body: '{"error":{"message":"Invalid key"}}' });
    const { body } = await test.owner.post('/setup/test-model');
    expect(body).toMatchObject({ works: false, remedy: expect.stringContaining('MODEL_API_KEY=') });
    expect((await actionsOf(test)).at(-1)).toMatchObject({ outcome: 'failure' });
  });
});
