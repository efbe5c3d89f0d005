import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countReport } from '../../../src/features/verifier/report-proof.js';
import { receiptsIn } from '../../../src/features/verifier/verifier.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { leaveActionRequest } from '../action-requests/action-request-rows.js';
import { leaveQuestion } from '../approvals/question-rows.js';
import { OrderDesk } from '../standing-orders/order-desk.js';

const NONE = { allowed: 0, approved: 0, denied: 0, rejected: 0, completed: 0, failed: 0, unconfirmed: 0 };
const CLEANER = {
  ...NONE,
  allowed: 1,
  approved: 2,
  denied: 1,
  rejected: 1,
  completed: 1,
  failed: 1,
  unconfirmed: 1,
};

let test: TestApp;
let admin: TestMember;
let cleaner: Client;
let tokenId: string;
let waiting: { actionRequestId: string; approvalId: string };
let last: { actionRequestId: string };

async function agentNamed(name: string): Promise<{ client: Client; tokenId: string }> {
  const made = await admin.post('/tokens', { name, agent: { name }, tools: ['crm.*'] });
  expect(made.status, made.text).toBe(201);
  return { client: new Client(test.url, made.body.token), tokenId: made.body.tokenId };
}

async function consume(actionRequestId: string, outcome?: 'succeeded' | 'failed') {
  const { paramsHash } = (await cleaner.get(`/action-requests/${actionRequestId}`)).body;
  const attempt = newId('req').padEnd(30, 'x');
  const consumed = await cleaner.post(`/action-requests/${actionRequestId}/consume`, { attempt, paramsHash });
  expect(consumed.status, consumed.text).toBe(200);
  if (!outcome) return;
  const result = await cleaner.post(`/action-requests/${actionRequestId}/result`, {
    outcome,
    summary: 'Tried.',
  });
  expect(result.status, result.text).toBe(200);
}

beforeAll(async () => {
  test = await startTestApp();
  admin = await test.createMember(test.workspaceId, 'admin');
  ({ client: cleaner, tokenId } = await agentNamed('CRM cleaner'));
  await agentNamed('Idle agent');
  const desk = new OrderDesk(test);
  const schema = { type: 'object', properties: { order: { type: 'string' } } };
  await admin.post('/tools', {
    name: 'crm.read',
    paramsSchema: schema,
    reversibility: 'read_only',
    risk: 'low',
  });
  await desk.active({ name: 'Reads', effect: 'allow', match: { actionTypes: ['crm.read'] } });
  await desk.active({ name: 'Never', effect: 'deny', match: { actionTypes: ['crm.drop'] } });

  const read = await leaveActionRequest(cleaner, { tool: 'crm.read' });
  await consume(read.actionRequestId, 'succeeded');
  await leaveActionRequest(cleaner, { tool: 'crm.drop' });
  const [failed, silent, rejected] = [
    await leaveActionRequest(cleaner, { tool: 'crm.delete' }),
    await leaveActionRequest(cleaner, { tool: 'crm.delete' }),
    await leaveActionRequest(cleaner, { tool: 'crm.delete' }),
  ];
  for (const { approvalId } of [failed, silent]) {
    expect((await admin.post(`/approvals/${approvalId}/approve`)).status).toBe(200);
  }
  await admin.post(`/approvals/${rejected.approvalId}/reject`, { feedback: 'No.' });
  await consume(failed.actionRequestId, 'failed');
  await consume(silent.actionRequestId);
  last = silent;
  await test.rows(
    'update action_requests set due_at = now(), complete_by = now() where action_request_id = $1',
    [silent.actionRequestId],
  );
  await eventually(
    () => cleaner.get(`/action-requests/${silent.actionRequestId}`),
    ({ body }) => body.status === 'unconfirmed',
  );
  waiting = await leaveActionRequest(cleaner, { tool: 'crm.delete' });
});
afterAll(() => test.close());

describe('an agent from outside is known by its name', () => {
  it('in GET /agents, beside the capos', async () => {
    const { questionId } = await leaveQuestion(cleaner);
    const { agents, outsideAgents } = (await admin.get('/agents')).body;
    expect(agents).toHaveLength(5);
    expect(outsideAgents).toMatchObject([
      { name: 'CRM cleaner', tokenId, pendingRequests: 2 },
      { name: 'Idle agent', pendingRequests: 0 },
    ]);
    await cleaner.post(`/questions/${questionId}/cancel`);
    const [{ pendingRequests }] = (await admin.get('/agents')).body.outsideAgents;
    expect(pendingRequests).toBe(1);
  });

  it('in the queue', async () => {
    const { items } = (await admin.get('/approvals')).body;
    const agent = { tokenId, name: 'CRM cleaner' };
    expect(items).toMatchObject([{ approvalId: waiting.approvalId, agent, capo: null }]);
    expect((await admin.get(`/approvals/${waiting.approvalId}`)).body).toMatchObject({ agent });
  });

  it('in every receipt and every sentence of the feed about its requests', async () => {
    const { items } = (await admin.get('/feed?limit=100')).body;
    const sentences = items
      .filter(({ entity }: any) => ['action_request', 'approval'].includes(entity.type))
      .map(({ text }: any) => text);
    expect(sentences.length).toBeGreaterThan(15);
    expect(sentences.filter((text: string) => !text.includes('CRM cleaner'))).toEqual([]);
    expect(sentences).toContain('"crm.delete" for CRM cleaner failed, as reported.');
    const receipts = await test.rows<{ body: string }>(
      `select body from receipts where action like 'action.%' or action in ('approval.approved', 'approval.rejected')`,
    );
    for (const { body } of receipts) {
      expect(JSON.parse(body).details).toMatchObject({
        agent: 'CRM cleaner',
        tool: expect.stringMatching(/^crm\./),
      });
    }
  });

  it('in GET /kpi, counted from the acts, from the sums, and from the rows again', async () => {
    const told = async () => (await admin.get('/kpi')).body.outsideAgents;
    const expected = [{ name: 'CRM cleaner', ...CLEANER }];
    expect(await told()).toEqual(expected);
    await test.rows('select app.fold_tallies(100000)');
    expect(await told()).toEqual(expected);
    await test.rows('select app.recount_tallies()');
    expect(await told()).toEqual(expected);
    const team = await test.createTeam(test.workspaceId, 'Elsewhere');
    const other = await test.createMember(test.workspaceId, 'operator', [team]);
    expect((await other.get('/kpi')).body.outsideAgents).toEqual([]);
  });

  it('in the Daily Report, a line for each tool of which something became, which the receipts prove', async () => {
    const report = (await admin.get('/reports/daily')).body;
    const { sections } = report;
    expect(sections.agentActivity.outsideAgents).toEqual([
      {
        ...NONE,
        ...{ name: 'CRM cleaner', tool: 'crm.delete', actionRequestId: last.actionRequestId },
        ...{ approved: 2, rejected: 1, failed: 1, unconfirmed: 1 },
      },
      { ...NONE, name: 'CRM cleaner', tool: 'crm.drop', actionRequestId: expect.any(String), denied: 1 },
      {
        ...NONE,
        ...{ name: 'CRM cleaner', tool: 'crm.read', actionRequestId: expect.any(String) },
        ...{ allowed: 1, completed: 1 },
      },
    ]);
    expect(sections.approvalQueue.items).toMatchObject([{ agent: 'CRM cleaner', capo: null }]);
    const { text } = await admin.get('/audit-feed?format=jsonl');
    const receipts = await receiptsIn(Readable.from([Buffer.from(text)]));
    expect(countReport(receipts, report, test.workspaceId).differences).toEqual([]);
    const markdown = (await admin.get('/reports/daily', { Accept: 'text/plain' })).text;
    expect(markdown).toContain(
      `CRM cleaner, crm.delete: 2 approved, 1 rejected, 1 failed, 1 unconfirmed (newest: act\\_`,
    );
    expect(markdown).toContain('crm.delete (CRM cleaner,');
    expect(markdown).not.toContain('Idle agent');
  });
});
