import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import type { Client } from '../../support/client.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';
import { Desk } from '../directives/desk.js';
import { MAIL_TO_ACME, NO_MAIL, OrderDesk } from '../standing-orders/order-desk.js';
import { MAIL_TO_JANE, MEMO, preflight } from './preflight-desk.js';

let test: TestApp;
let orders: OrderDesk;
beforeAll(async () => {
  test = await startTestApp();
  orders = new OrderDesk(test);
});
afterAll(() => test.close());

/** Each case in a workspace of its own, so that no order of another case stands in it. */
async function workspace(...given: object[]): Promise<TestWorkspace & { ids: string[] }> {
  const made = await test.createWorkspace();
  const ids: string[] = [];
  for (const order of given) ids.push(await orders.active(order, made.owner));
  return { ...made, ids };
}

const FILE_MEMOS = {
  name: 'Memos',
  effect: 'allow',
  match: { actionTypes: ['document.file'] },
  limits: { maxPerDay: 2 },
};

async function ask(by: Client, body: object) {
  const answer = await preflight(by, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

describe('POST /guardian/preflight 200 for an action', () => {
  it('answers the record of the contract', async () => {
    const { owner, ids } = await workspace({ ...MAIL_TO_ACME, limits: { maxPerHour: 5 } });
    expect(await ask(owner, { action: MAIL_TO_JANE, capo: 'capo_ops' })).toEqual({
      preflightId: expect.stringMatching(/^pfl_/),
      outcome: 'allow',
      explanation: ['The standing order "Mail to Acme" allows this work packet.'],
      approval: null,
      route: { capo: 'capo_ops', routedBy: 'operator', candidates: [], reason: 'The request names Ops.' },
      packets: [
        {
          title: 'Mail to jane@acme.example: Your delivery',
          type: 'email.send',
          target: 'jane@acme.example',
          reversibility: 'irreversible',
          outcome: 'allow',
          needsInput: [],
        },
      ],
      considered: ids,
      matched: [{ standingOrderId: ids[0], version: 1, effect: 'allow' }],
      limits: [{ standingOrderId: ids[0], limit: 'maxPerHour', allowed: 5, used: 1, holds: true }],
      guardian: { mode: 'guardrailed', epoch: 0 },
      reversibility: 'irreversible',
      estimatedCost: { amount: 0, currency: 'USD', tokensIn: 0, tokensOut: 0 },
      warnings: [],
      decisionHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('asks where no order allows it, and denies where one forbids it', async () => {
    const { owner } = await workspace();
    expect(await ask(owner, { action: MAIL_TO_JANE, capo: 'capo_ops' })).toMatchObject({
      outcome: 'require_approval',
      explanation: ['No standing order allows this work packet.'],
      considered: [],
    });
    const denying = await workspace(NO_MAIL, MAIL_TO_ACME);
    expect(await ask(denying.owner, { action: MAIL_TO_JANE, capo: 'capo_ops' })).toMatchObject({
      outcome: 'deny',
      explanation: [
        'The standing order "No mail" forbids this work packet.',
        'The standing order "Mail to Acme" allows this work packet.',
      ],
    });
  });

  it('decides as the gate does: the same outcome, limits and hash but for the id of the work packet', async () => {
    const { owner, workspaceId } = await workspace(FILE_MEMOS);
    const desk = new Desk(test, owner.token);
    const text = 'File this memo for the board: The delivery delays end on Friday.';
    const body = { directive: text, capo: 'capo_ops', requiresApproval: false };
    for (const outcome of ['allow', 'allow', 'require_approval']) {
      const before = await ask(owner, { directive: text, capo: 'capo_ops' });
      expect(before.outcome).toBe(outcome);
      const { directiveId } = (await desk.client.post('/directives', body)).body;
      await desk.until(directiveId, outcome === 'allow' ? 'executed' : 'pending_approval');
      const [packet] = await desk.packets(directiveId);
      const { explanation, considered, matched, limits } = packet.decision;
      expect(before).toMatchObject({ explanation, considered, matched, limits });
    }
    const used = await test.rows('select 1 from standing_order_uses where workspace_id = $1', [workspaceId]);
    expect(used).toHaveLength(2);
  });

  it('says halted while the kill switch is engaged, whatever the orders say', async () => {
    const { owner } = await workspace(FILE_MEMOS);
    const desk = new Desk(test, owner.token);
    await desk.kill();
    expect(await ask(owner, { action: MEMO, capo: 'capo_ops' })).toMatchObject({
      outcome: 'halted',
      guardian: { mode: 'killed', epoch: 1 },
      packets: [{ outcome: 'halted' }],
      explanation: expect.arrayContaining([
        'The kill switch is engaged: nothing is drafted, approved or sent.',
        'The standing order "Memos" allows this work packet.',
      ]),
    });
  });

  it('warns while the guardian only observes', async () => {
    const { owner } = await workspace(FILE_MEMOS);
    await new Desk(test, owner.token).mode('observe');
    const answer = await ask(owner, { action: MEMO, capo: 'capo_ops' });
    expect(answer).toMatchObject({ outcome: 'require_approval', guardian: { mode: 'observe' } });
    expect(answer.warnings[0]).toMatch(/^The guardian only observes/);
  });

  it('takes the strictest capo where none is named, and says that it depends', async () => {
    const { owner } = await workspace(MAIL_TO_ACME, { ...NO_MAIL, capos: ['capo_marketing'] });
    const answer = await ask(owner, { action: MAIL_TO_JANE });
    expect(answer).toMatchObject({
      outcome: 'deny',
      route: {
        capo: null,
        routedBy: 'consigliere',
        reason: expect.stringContaining('Marketing, Revenue, Ops'),
      },
      warnings: [expect.stringContaining('capo_marketing: deny, capo_revenue: allow, capo_ops: allow')],
    });
    const revenue = { type: 'revenue.record', params: { amount: 5, currency: 'EUR', source: 'shop' } };
    expect((await ask(owner, { action: revenue })).route).toMatchObject({
      capo: 'capo_revenue',
      reason: 'Only Revenue can do this.',
    });
  });

  it('takes the team, the priority and the copies of a mail into account', async () => {
    const { owner, workspaceId } = await workspace(MAIL_TO_ACME);
    const teamId = await test.createTeam(workspaceId, 'Sales');
    await orders.active(
      { ...NO_MAIL, teamId, match: { actionTypes: ['email.send'], priorities: ['high'] } },
      owner,
    );
    const asked = { action: MAIL_TO_JANE, capo: 'capo_ops' };
    expect((await ask(owner, { ...asked, priority: 'high' })).outcome).toBe('allow');
    expect((await ask(owner, { ...asked, teamId })).outcome).toBe('allow');
    expect((await ask(owner, { ...asked, teamId, priority: 'high' })).outcome).toBe('deny');
    const copied = { ...MAIL_TO_JANE, params: { ...MAIL_TO_JANE.params, cc: ['spy@other.example'] } };
    expect((await ask(owner, { ...asked, action: copied })).outcome).toBe('require_approval');
  });

  it('sees an order at once that another process has changed', async () => {
    const { owner, ids } = await workspace(FILE_MEMOS);
    expect((await ask(owner, { action: MEMO, capo: 'capo_ops' })).outcome).toBe('allow');
    await test.rows(`update standing_orders set status = 'paused' where standing_order_id = $1`, ids);
    expect((await ask(owner, { action: MEMO, capo: 'capo_ops' })).outcome).toBe('require_approval');
  });
});

describe('POST /guardian/preflight for members of teams', () => {
  it('is for those who may do it there: 403 for viewers, 404 for the team of others', async () => {
    const { workspaceId, owner } = await workspace();
    const sales = await test.createTeam(workspaceId, 'Sales');
    const support = await test.createTeam(workspaceId, 'Support');
    const seller = await test.createMember(workspaceId, 'operator', [sales]);
    const viewer = await test.createMember(workspaceId, 'viewer', [sales]);
    const asked = { action: MEMO, capo: 'capo_ops' };
    await orders.active(
      {
        name: 'Memos of Support',
        effect: 'allow',
        teamId: support,
        match: { actionTypes: ['document.file'] },
      },
      owner,
    );
    expect((await preflight(viewer, asked)).status).toBe(403);
    expect((await preflight(seller, { ...asked, teamId: support })).status).toBe(404);
    expect((await preflight(seller, { ...asked, teamId: newId('team') })).status).toBe(404);
    expect((await preflight(owner, { ...asked, teamId: newId('team') })).status).toBe(404);
    // Without a team, the caller's own; nothing is said of the orders of another one.
    const own = await ask(seller, asked);
    expect(own).toMatchObject({ outcome: 'require_approval', considered: [] });
    expect((await ask(owner, { ...asked, teamId: support })).outcome).toBe('allow');
  });
});

describe('POST /guardian/preflight 422', () => {
  it.each<[string, object, string]>([
    ['neither a directive nor an action', {}, ''],
    ['both', { directive: 'File a memo.', action: MEMO, capo: 'capo_ops' }, ''],
    ['a type that there is not', { action: { type: 'fax.send', params: {} } }, 'action.type'],
    ['a type that the capo cannot do', { action: MAIL_TO_JANE, capo: 'ceo' }, 'action.type'],
    [
      'parameters that the registry refuses',
      {
        action: { type: 'email.send', params: { to: ['nobody'], subject: 'Hi', body: 'Hi.' } },
        capo: 'capo_ops',
      },
      'action.params.to.0',
    ],
    [
      'a parameter that there is not',
      { action: { ...MEMO, params: { ...MEMO.params, bcc: 'x' } }, capo: 'capo_ops' },
      'action.params.bcc',
    ],
    ['an action without parameters', { action: { type: 'email.send' } }, 'action.params'],
    ['an action that is none', { action: 'email.send' }, 'action'],
    ['an unknown capo', { action: MEMO, capo: 'capo_nobody' }, 'capo'],
    ['an empty directive', { directive: '  ' }, 'directive'],
    [
      'a context that is too large',
      { directive: 'File a memo.', context: { text: 'x'.repeat(65 * 1024) } },
      'context',
    ],
    ['what there is not', { directive: 'File a memo.', requiresApproval: false }, 'requiresApproval'],
  ])('names the path for %s', async (_name, body, path) => {
    const answer = await preflight(test.owner, body);
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body.error.details.map((fault: { path: string }) => fault.path)).toContain(path);
  });
});
