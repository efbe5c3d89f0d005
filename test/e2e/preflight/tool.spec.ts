import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { OrderDesk } from '../standing-orders/order-desk.js';
import { everything, preflight } from './preflight-desk.js';

let test: TestApp;
let bot: Client;
let tokenId: string;
let orderId: string;
beforeAll(async () => {
  test = await startTestApp();
  await test.owner.put('/settings', { currency: 'EUR' });
  await test.owner.post('/tools', {
    name: 'pay.invoice',
    paramsSchema: {
      type: 'object',
      properties: { amount: { type: 'number' }, currency: { type: 'string' } },
      required: ['amount'],
    },
    amountPath: 'amount',
    currencyPath: 'currency',
    reversibility: 'reversible',
    titleTemplate: 'Pay {{amount}} {{currency}}',
  });
  const agent = { name: 'Bot', agent: { name: 'pay-bot' }, tools: ['pay.*'] };
  const made = await test.owner.post('/tokens', agent);
  bot = new Client(test.url, made.body.token);
  ({ tokenId } = made.body);
  orderId = await new OrderDesk(test).active({
    name: 'Small invoices',
    effect: 'allow',
    match: { actionTypes: ['pay.*'], agents: ['pay-bot'] },
    limits: { maxAmountPerDay: 60 },
  });
});
afterAll(() => test.close());

const ask = (action: object, more: object = {}) => preflight(test.owner, { action, ...more });
const PAY = { tool: 'pay.invoice', params: { amount: 25, currency: 'EUR' } };

describe('POST /guardian/preflight for what an agent from outside would ask', () => {
  it('answers what would be decided, with the limits, and changes nothing', async () => {
    const before = await everything(test);
    const { body, text } = await ask({ ...PAY, agent: 'pay-bot' });
    expect(body, text).toMatchObject({
      outcome: 'allow',
      explanation: ['The standing order "Small invoices" allows this action.'],
      route: { capo: null, routedBy: 'operator', candidates: [] },
      packets: [
        {
          title: 'Pay 25 EUR',
          type: 'pay.invoice',
          target: null,
          reversibility: 'reversible',
          outcome: 'allow',
          needsInput: [],
        },
      ],
      matched: [{ standingOrderId: orderId, version: 1, effect: 'allow' }],
      limits: [{ standingOrderId: orderId, limit: 'maxAmountPerDay', allowed: 60, used: 25, holds: true }],
      warnings: [],
    });
    expect(await everything(test)).toEqual(before);
  });

  it('asks for another agent, beyond the limit, in another currency and for a tool that nobody has registered', async () => {
    const outcomes = [
      await ask(PAY),
      await ask({ ...PAY, agent: 'pay-bot', params: { amount: 70, currency: 'EUR' } }),
      await ask({ ...PAY, agent: 'pay-bot', params: { amount: 1, currency: 'USD' } }),
      await ask({ tool: 'pay.unknown', params: {}, agent: 'pay-bot' }),
    ].map(({ body }) => body.outcome);
    expect(outcomes).toEqual(Array(4).fill('require_approval'));
  });

  it('warns of an agent that is paused', async () => {
    await test.owner.post(`/tokens/${tokenId}/pause`);
    const { body } = await ask({ ...PAY, agent: 'pay-bot' });
    await test.owner.post(`/tokens/${tokenId}/resume`);
    expect(body.warnings).toEqual(['The token of this agent is paused, so it cannot ask now.']);
  });

  it('denies parameters that take too long to check, as the request does', async () => {
    const nested = (depth: number): object => (depth === 0 ? {} : { next: nested(depth - 1) });
    // Each level is tried twice.
    const again = { properties: { next: { $ref: '#/$defs/a' } } };
    const $defs = { a: { anyOf: ['x', 'y'].map((name) => ({ ...again, required: [name] })) } };
    const paramsSchema = { type: 'object', $defs, properties: { next: { $ref: '#/$defs/a' } } };
    const made = await test.owner.post('/tools', { name: 'pay.slow', paramsSchema });
    expect(made.status, made.text).toBe(201);
    const params = { next: nested(27) };
    const { body, text } = await ask({ tool: 'pay.slow', params, agent: 'pay-bot' });
    const asked = await bot.post('/action-requests', { tool: 'pay.slow', params });
    expect([body.outcome, asked.body.status], text).toEqual(['deny', 'denied']);
    expect(body.explanation).toEqual(['The parameters took too long to be checked against the tool.']);
  });

  it.each<[string, object, number, string]>([
    ['a tool that the agent may not ask for', { tool: 'crm.note', params: {}, agent: 'pay-bot' }, 403, ''],
    ['an agent that is not there', { ...PAY, agent: 'nobody' }, 422, 'action.agent'],
    ['parameters that the tool refuses', { ...PAY, params: { amount: '25' } }, 422, 'params.amount'],
    ['parameters of no tool', { ...PAY, params: { amount: 2 ** 53 } }, 422, 'params.amount'],
    ['a name of our own action types', { tool: 'email.send', params: {} }, 422, 'tool'],
    ['a type as well', { ...PAY, type: 'email.send' }, 422, 'action.type'],
    [
      'an agent for an action of ours',
      { type: 'email.send', params: {}, agent: 'pay-bot' },
      422,
      'action.agent',
    ],
    ['neither of them', { params: {} }, 422, 'action'],
  ])('refuses %s', async (_what, action, status, path) => {
    const answer = await ask(action);
    expect(answer.status, answer.text).toBe(status);
    if (path !== '') expect(answer.body.error.details[0].path).toBe(path);
  });

  it('refuses a capo and a priority, which no agent has', async () => {
    const { body } = await ask(PAY, { capo: 'capo_ops', priority: 'high' });
    expect(body.error.details.map(({ path }: { path: string }) => path)).toEqual(['capo', 'priority']);
  });

  it('tells an agent nothing, so that it learns no bound by asking', async () => {
    const answer = await preflight(bot, { action: PAY });
    expect([
      answer.status,
      JSON.stringify(answer.body.error).replace(answer.body.error.requestId, '').includes('60'),
    ]).toEqual([403, false]);
  });
});
