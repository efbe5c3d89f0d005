import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { OrderDesk } from '../standing-orders/order-desk.js';

describe('GET /approvals/{approvalId}: what a person should know before they decide', () => {
  let test: TestApp;
  let orders: OrderDesk;

  beforeAll(async () => {
    test = await startTestApp();
    orders = new OrderDesk(test);
  });
  afterAll(() => test?.close());

  const handIn = async (directive: object, by = test.owner): Promise<string> => {
    const { body } = await by.post('/directives', { capo: 'capo_ops', ...directive });
    await test.owner.get(`/approvals/${body.approvalId}?wait=10`);
    return body.approvalId;
  };
  const read = async (id: string, by = test.owner) => (await by.get(`/approvals/${id}`)).body;
  const origins = async (id: string) =>
    Object.fromEntries(
      (await read(id)).sources.map((one: { text: string; origin: string; name: string | null }) => [
        one.text,
        one.name === null ? one.origin : `${one.origin} ${one.name}`,
      ]),
    );

  it('says of each recipient, link and amount where it comes from', async () => {
    await orders.active({
      name: 'Copies to the office',
      effect: 'allow',
      match: {
        actionTypes: ['email.send'],
        fields: {
          'params.cc': { $in: ['office@acme.example'] },
          'params.to': { $domainIn: ['office.example'] },
        },
      },
    });
    const id = await handIn({
      directive: 'Email jane@acme.example, subject "Rent": "Pay 40 EUR at https://acme.example/pay."',
      context: { account: 'https://bank.example/acme' },
    });
    const owner = (await read(id)).requestedBy.name;
    expect(await origins(id)).toEqual({
      'jane@acme.example': `directive ${owner}`,
      'acme.example/pay': `directive ${owner}`,
      '40 EUR': `directive ${owner}`,
    });
    const { packets, contentHash } = await read(id);
    const [{ workPacketId, action }] = packets;
    const params = {
      ...action.params,
      to: ['jane@acme.example', 'eve@evil.example'],
      cc: ['office@acme.example'],
      body: 'Pay 4,000 EUR at https://bank.example/acme or https://acme.example/pay.',
    };
    const edited = await test.owner.send(
      'PATCH',
      `/approvals/${id}`,
      { packets: [{ workPacketId, params }] },
      { 'If-Match': `"${contentHash}"` },
    );
    expect(edited.status, edited.text).toBe(200);
    expect(await origins(id)).toEqual({
      'jane@acme.example': `directive ${owner}`,
      'eve@evil.example': `person ${owner}`,
      'office@acme.example': 'standing_order Copies to the office',
      'bank.example/acme': 'context',
      'acme.example/pay': `directive ${owner}`,
      '4,000 EUR': `person ${owner}`,
    });
    expect(new Set(edited.body.sources)).toEqual(new Set((await read(id)).sources));
  });

  it('calls unverified what an agent gives alone, first', async () => {
    const agent = { name: 'refund-bot' };
    const { body: token } = await test.owner.post('/tokens', { name: 'Refunds', agent, tools: ['pay.*'] });
    const bot = new Client(test.url, token.token);
    const { body } = await bot.post('/action-requests', {
      tool: 'pay.refund',
      params: { to: 'karl@acme.example', amount: 90.5, note: 'See https://acme.example.' },
    });
    expect(await origins(body.approvalId)).toEqual({
      'karl@acme.example': 'unverified',
      '90.5': 'unverified',
      'acme.example': 'unverified',
    });
  });

  it('takes only what an order that allows names in its fields for a source, and never a bound', async () => {
    const text = 'Never pay DE89 3704 0044 0532 0130 00, sam@evil.example or https://phish.evil.example/x.';
    const bound = { 'params.amount': { $gte: 5000 } };
    const tool = { actionTypes: ['pay.transfer'] };
    await orders.active({ name: 'In words', effect: 'deny', text, match: { ...tool, agents: ['nobody'] } });
    await orders.active({ name: 'Large', effect: 'require_approval', match: { ...tool, fields: bound } });
    await orders.active({
      name: 'Forbidden',
      effect: 'deny',
      match: {
        ...tool,
        fields: {
          'params.customer': { $eq: 'mallory@evil.example' },
          'params.to': { $domainIn: ['bad.example'] },
        },
      },
    });
    const allows = {
      'params.customer': { $in: ['karl@acme.example'], $ne: 'not@acme.example' },
      'params.amount': { $lte: 5000 },
      'params.to': { $domainIn: ['good.example'] },
    };
    await orders.active({ name: 'Known', effect: 'allow', text, match: { ...tool, fields: allows } });
    const { body: token } = await test.owner.post('/tokens', {
      name: 'Transfers',
      agent: { name: 'transfer-bot' },
      tools: ['pay.*'],
    });
    const { body } = await new Client(test.url, token.token).post('/action-requests', {
      tool: 'pay.transfer',
      params: {
        customer: 'karl@acme.example',
        amount: 5000,
        iban: 'DE89 3704 0044 0532 0130 00',
        cc: ['eve@good.example', 'eve@bad.example', 'a@good.example, b@evil.example'],
        note: 'sam@evil.example, mallory@evil.example, not@acme.example, https://phish.evil.example/x',
      },
    });
    expect(await origins(body.approvalId)).toEqual({
      'karl@acme.example': 'standing_order Known',
      'eve@good.example': 'standing_order Known',
      'a@good.example': 'standing_order Known',
      'eve@bad.example': 'forbidden Forbidden',
      'mallory@evil.example': 'forbidden Forbidden',
      'not@acme.example': 'unverified',
      'sam@evil.example': 'unverified',
      'b@evil.example': 'unverified',
      'a@good.example, b@evil.example': 'unverified',
      'phish.evil.example/x': 'unverified',
      DE89370400440532013000: 'unverified',
      '5000': 'unverified',
    });
  });

  it('names who may approve, and says why the caller may not', async () => {
    const operator = await test.createMember(test.workspaceId, 'operator');
    const admin = await test.createMember(test.workspaceId, 'admin');
    const viewer = await test.createMember(test.workspaceId, 'viewer');
    await orders.active({
      name: 'Four eyes',
      effect: 'require_approval',
      match: { actionTypes: ['email.send'] },
      approval: { selfApproval: false, approvers: { roles: ['admin'] } },
    });
    const id = await handIn({ directive: 'Email finn@acme.example, subject "Two": "Us."' }, admin);
    const { mayApprove, refusal } = await read(id);
    expect(mayApprove).toHaveLength(1);
    expect(mayApprove[0]).toMatchObject({
      memberId: expect.stringMatching(/^mem_/),
      name: expect.any(String),
    });
    expect(refusal).toBeNull();
    expect((await read(id, admin)).refusal).toMatch(/someone other than the member who asked/);
    expect((await read(id, operator)).refusal).toMatch(/"Four eyes" names who may approve this/);
    expect((await read(id, viewer)).refusal).toMatch(/needs the role operator/);
    await test.owner.post(`/approvals/${id}/approve`);
    expect(await read(id)).toMatchObject({ sources: [], mayApprove: [], refusal: null });
  });
});
