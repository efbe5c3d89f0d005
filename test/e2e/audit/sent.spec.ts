import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { OrderDesk, MAIL_TO_ACME } from '../standing-orders/order-desk.js';

describe('GET /audit-feed/sent', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp();
  });
  afterAll(() => test.close());

  const list = async (by: Client = test.owner, query = '') =>
    (await new Client(by.url, by.token).get(`/audit-feed/sent${query}`)).body;
  const listed = (count: number) => eventually(list, ({ items }) => items.length === count);
  const handIn = async (directive: string, more: object = {}) =>
    (await test.owner.post('/directives', { directive, capo: 'capo_ops', ...more })).body;

  it('200: what people and standing orders let go, of capos and agents, newest first, each with its receipt', async () => {
    const teamId = await test.createTeam(test.workspaceId, 'North');
    const approved = await handIn('Email jane@acme.example, subject "Tea": "At four."', { teamId });
    await test.owner.get(`/approvals/${approved.approvalId}?wait=10`);
    await test.owner.post(`/approvals/${approved.approvalId}/approve`);
    await listed(1);
    const standingOrderId = await new OrderDesk(test).active(MAIL_TO_ACME);
    const mail = 'Email karl@acme.example, subject "Tea": "At five."';
    const allowed = await handIn(mail, { requiresApproval: false });
    await listed(2);
    const note = await handIn('File a note "Rent": "It is due."', { requiresApproval: false });

    const agent = { name: 'refund-bot' };
    const { body } = await test.owner.post('/tokens', { name: 'Refunds', agent, tools: ['pay.*'] });
    const bot = new Client(test.url, body.token);
    const params = { amount: 5 };
    const { body: asked } = await bot.post('/action-requests', { tool: 'pay.refund', params });
    await test.owner.post(`/approvals/${asked.approvalId}/approve`);
    const attempt = 'x'.repeat(32);
    await bot.post(`/action-requests/${asked.actionRequestId}/consume`, { attempt, params });
    const result = { outcome: 'succeeded', summary: 'Refunded 5.' };
    const reported = await bot.post(`/action-requests/${asked.actionRequestId}/result`, result);

    const page = await listed(3);
    expect(page).toMatchObject({
      total: 3,
      items: [
        {
          receiptId: reported.body.receiptId,
          title: asked.title,
          type: 'pay.refund',
          agent: 'refund-bot',
          transport: null,
          directiveId: null,
          approvalId: asked.approvalId,
          approvedBy: ['Owner'],
          allowedBy: [],
        },
        {
          title: expect.stringContaining('karl@acme.example'),
          type: 'email.send',
          target: 'karl@acme.example',
          agent: null,
          transport: 'file',
          directiveId: allowed.directiveId,
          approvalId: null,
          approvedBy: [],
          allowedBy: [{ standingOrderId, name: 'Mail to Acme' }],
        },
        {
          target: 'jane@acme.example',
          approvalId: approved.approvalId,
          approvedBy: ['Owner'],
          allowedBy: [],
        },
      ],
    });
    expect(JSON.stringify(page)).not.toContain(note.directiveId);
    for (const { receiptId, seq, at } of page.items) {
      const { items } = (await test.owner.get(`/audit-feed?receipt=${receiptId}`)).body;
      expect(items).toMatchObject([{ receiptId, seq, at }]);
    }
    // A page goes on where the one before ends, and a team sees its own.
    const first = await list(test.owner, '?limit=1');
    const rest = await list(test.owner, `?limit=2&cursor=${first.nextCursor}`);
    expect([...first.items, ...rest.items]).toEqual(page.items);
    const other = await test.createMember(test.workspaceId, 'viewer', [
      await test.createTeam(test.workspaceId, 'South'),
    ]);
    const targets = ({ items }: { items: { target: string }[] }) => items.map(({ target }) => target);
    expect(targets(await list(test.owner, `?teamId=${teamId}`))).toEqual(['jane@acme.example']);
    expect(targets(await list(other))).not.toContain('jane@acme.example');
  });

  it('200: what one standing order let go, and nothing that a person approved', async () => {
    const desk = new OrderDesk(test);
    const standingOrderId = await desk.active({
      ...MAIL_TO_ACME,
      name: 'Shipping confirmations',
      match: {
        ...MAIL_TO_ACME.match,
        fields: { 'params.subject': { $prefix: 'Order ', $suffix: ' has shipped' } },
      },
      limits: { maxPerHour: 20 },
    });
    const used = async (by: Client) =>
      (await by.get(`/standing-orders/${standingOrderId}?include=used`)).body.used;
    expect(await used(test.owner)).toEqual({ lastHour: 0, lastDay: 0 });
    const by = (query = '') => list(test.owner, `?standingOrderId=${standingOrderId}${query}`);
    for (const n of [1, 2])
      await handIn(`Email x@beta.example, subject "Order ${n} has shipped": "It left."`, {
        requiresApproval: false,
      });
    const asked = await handIn('Email x@beta.example, subject "Order 3 has shipped": "It left."');
    await test.owner.get(`/approvals/${asked.approvalId}?wait=10`);
    await test.owner.post(`/approvals/${asked.approvalId}/approve`);
    const delayed = await handIn('Email x@beta.example, subject "Order 4 is delayed": "It will take long."', {
      requiresApproval: false,
    });
    await eventually(
      async () => (await list()).items,
      (items) => items.some(({ directiveId }: { directiveId: string }) => directiveId === asked.directiveId),
    );
    const page = await eventually(by, ({ total }) => total === 2);
    expect(page.items.map(({ title }: { title: string }) => title).toSorted()).toEqual([
      expect.stringContaining('Order 1 has shipped'),
      expect.stringContaining('Order 2 has shipped'),
    ]);
    expect((await by('&limit=1')).items).toHaveLength(1);
    const { status } = await eventually(
      async () => (await test.owner.get(`/directives/${delayed.directiveId}`)).body,
      (body) => body.status === 'pending_approval',
    );
    expect(status).toBe('pending_approval');
    expect(await used(test.owner)).toMatchObject({ lastHour: expect.any(Number) });
    // It counts what all teams do: who reads the order alone is not told.
    expect(await used(await test.createMember(test.workspaceId, 'operator'))).toBeNull();
    expect((await test.owner.get('/audit-feed/sent?standingOrderId=x')).status).toBe(422);
  });

  it('422 for a receipt that is none, and nothing for one that is not there', async () => {
    expect((await test.owner.get('/audit-feed?receipt=x')).status).toBe(422);
    const { body } = await test.owner.get('/audit-feed?receipt=rcp_01khqw9ewg14azqhp5x4vkpz0a');
    expect(body.items).toEqual([]);
  });
});
