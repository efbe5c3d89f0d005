import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { DOCUMENT, MAIL } from '../directives/desk.js';
import { MAIL_TO_ACME, OrderDesk } from '../standing-orders/order-desk.js';
import { preflight } from './preflight-desk.js';

let test: TestApp;
let orders: OrderDesk;
beforeAll(async () => {
  test = await startTestApp();
  orders = new OrderDesk(test);
});
afterAll(() => test.close());

describe('POST /guardian/preflight 200 for a directive', () => {
  it('routes it by its words, and tells which work packets it would become', async () => {
    const { owner } = await test.createWorkspace();
    const { status, body } = await preflight(owner, { directive: MAIL });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      outcome: 'require_approval',
      route: { capo: 'capo_ops', routedBy: 'consigliere', reason: expect.stringContaining('Ops') },
      packets: [
        { type: 'email.send', target: 'jane@acme.example', reversibility: 'irreversible', needsInput: [] },
      ],
      reversibility: 'irreversible',
      estimatedCost: { amount: 0, currency: 'USD', tokensIn: 0, tokensOut: 0 },
      warnings: [
        'Its draft waits for a person, unless it is handed in so that standing orders decide (`requiresApproval: false`).',
      ],
    });
    expect(body.route.candidates).toHaveLength(5);
  });

  it('decides each of its work packets, and counts them together', async () => {
    const { owner } = await test.createWorkspace();
    await orders.active({ ...MAIL_TO_ACME, limits: { maxPerHour: 1 } }, owner);
    const directive =
      'Email jane@acme.example, subject "Delivery": The delivery arrives on Friday.\nEmail joe@acme.example, subject "Invoice": It is paid.';
    const { body } = await preflight(owner, { directive, capo: 'capo_ops' });
    expect(body.packets.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      'allow',
      'require_approval',
    ]);
    expect(body.outcome).toBe('require_approval');
    expect(body.limits).toEqual([
      expect.objectContaining({ limit: 'maxPerHour', allowed: 1, used: 2, holds: false }),
    ]);
  });

  it('asks for what a person has to supply, even where an order allows the rest', async () => {
    const { owner } = await test.createWorkspace();
    await orders.active({ ...MAIL_TO_ACME, name: 'All mail', match: { actionTypes: ['email.send'] } }, owner);
    const { body } = await preflight(owner, {
      directive: 'Send a mail: The delivery arrives on Friday.',
      capo: 'capo_ops',
    });
    expect(body.packets[0]).toMatchObject({ needsInput: expect.arrayContaining(['params.to']) });
    expect(body.outcome).toBe('require_approval');
    expect(body.explanation[0]).toContain('lacks something that a person has to supply');
  });

  it('tells the route alone where the rules see no work packet', async () => {
    const { owner } = await test.createWorkspace();
    const { body } = await preflight(owner, { directive: 'Hmm, the weather.' });
    expect(body).toMatchObject({
      outcome: 'require_approval',
      packets: [],
      reversibility: null,
      matched: [],
    });
    expect(body.warnings).toContain(
      'The built-in rules see no work packet in it, so only its route is told.',
    );
  });

  it('is allowed where the orders allow all of it', async () => {
    const { owner } = await test.createWorkspace();
    await orders.active({ name: 'Memos', effect: 'allow', match: { actionTypes: ['document.file'] } }, owner);
    expect((await preflight(owner, { directive: DOCUMENT, capo: 'capo_ops' })).body.outcome).toBe('allow');
  });

  it('reads hostile texts within bounds, and answers', async () => {
    const { owner } = await test.createWorkspace();
    for (const directive of ['email '.repeat(3_300), `${'a@'.repeat(9_000)}b.example`, '👨‍👩‍👧‍👦'.repeat(1_800)]) {
      const { status, body } = await preflight(owner, { directive });
      expect(status).toBe(200);
      expect(JSON.stringify(body).length).toBeLessThan(200_000);
    }
  });
});

describe('a preflight where a model drafts', () => {
  let modelled: TestApp;
  beforeAll(async () => {
    modelled = await startTestApp({
      MODEL_PROVIDER: 'openai-compatible',
      MODEL_BASE_URL: 'http://127.0.0.1:9/v1',
      MODEL_NAME: 'qwen3',
    });
  });
  afterAll(() => modelled.close());

  it('asks no model, says so, and goes by what the last directives cost', async () => {
    const { owner, workspaceId } = modelled;
    const first = await preflight(owner, { directive: MAIL });
    expect(first.body).toMatchObject({ packets: [{ type: 'email.send' }], estimatedCost: null });
    expect(first.body.warnings.join(' ')).toMatch(/routes directives was not asked.*drafts was not asked/);
    for (const [index, amount] of [0.01, 0.03].entries()) {
      await modelled.rows(
        `insert into directives (directive_id, workspace_id, text, capo, routed_by, priority, requires_approval, context, status,
           cost, engine, history, created_by, created_at)
         values ('dir_' || $2::text, $1, 'x', 'capo_ops', 'operator', 'medium', false, '{}', 'executed', $3, '{"name": "m", "model": "qwen3"}',
           '[]', '{}', now())`,
        [workspaceId, index, JSON.stringify({ amount, currency: 'USD', tokensIn: 100, tokensOut: 10 })],
      );
    }
    const second = await preflight(owner, { directive: MAIL });
    expect(second.body.estimatedCost).toEqual({
      amount: 0.02,
      currency: 'USD',
      tokensIn: 100,
      tokensOut: 10,
    });
  });
});
