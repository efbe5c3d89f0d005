import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CapoRunner, Draft, DraftContent, DraftPacket } from '../../src/features/capos/briefing.js';
import { ACTION_TYPES } from '../../src/features/capos/action-types.js';
import { CAPO_RUNNER } from '../../src/features/capos/capos.module.js';
import { loadConfig } from '../../src/platform/config/config.js';
import { sha256 } from '../../src/platform/kernel/canonical-json.js';
import { Desk } from '../e2e/directives/desk.js';
import { FILE_DOCUMENTS, OrderDesk } from '../e2e/standing-orders/order-desk.js';
import { draftPacket, MAIL_TO_JANE, ScriptedRunner } from '../support/scripted-runner.js';
import { eventually, startTestApp, type TestApp } from '../support/test-app.js';

/*
 * OWASP AISVS 1.01, C9.1.3 and C9.2: one test for each requirement that is held, by its number. docs/security.md has the
 * table; test/docs/aisvs.spec.ts compares the two. What drafts is a model in each of them: nothing of what it says is trusted.
 */

const MEMO = draftPacket({ type: 'document.file', params: { title: 'Memo', body: 'Two were late.' } });

let test: TestApp;
let desk: Desk;
let orders: OrderDesk;
let runner: ScriptedRunner;
beforeAll(async () => {
  test = await startTestApp();
  desk = new Desk(test);
  orders = new OrderDesk(test);
  runner = new ScriptedRunner(test);
  runner.asModel('test-model');
});
afterEach(async () => {
  const { body } = await desk.client.get('/guardian');
  if (body.mode === 'killed') await desk.revert();
  await desk.mode('guardrailed');
});
afterAll(() => test.close());

let named = 0;
/** Hands in a directive for which the model makes this draft; without an approval unless the policy asks for one. */
async function drafted(packets: DraftPacket[], more: object = {}): Promise<string> {
  const text = `Directive ${++named}`;
  runner.answer(text, { packets } satisfies Partial<DraftContent>);
  const body = { directive: text, capo: 'capo_ops', requiresApproval: false, ...more };
  const { status, body: answer, text: why } = await desk.client.post('/directives', body);
  expect(status, why).toBe(201);
  return answer.directiveId;
}

/** The approval that the draft waits for. */
async function waiting(directiveId: string) {
  const { approvalId } = await desk.until(directiveId, 'pending_approval');
  return desk.ready(approvalId);
}

/** The work packets of the directive whose mail has left. */
async function mailed(directiveId: string): Promise<string[]> {
  const files = await readdir(join(test.dataDir, 'outbox')).catch((): string[] => []);
  const packets = (await desk.packets(directiveId)) as { workPacketId: string }[];
  return packets.map(({ workPacketId }) => workPacketId).filter((id) => files.includes(`${id}.eml`));
}

describe('OWASP AISVS', () => {
  it('9.1.3: one call halts what every capo does, lets nothing new begin, and the receipts show it', async () => {
    const approved = await waiting(await drafted([MAIL_TO_JANE]));
    expect((await desk.kill('something is wrong')).status).toBe(200);
    expect((await desk.approve(approved.approvalId)).status).toBe(423);
    const directiveId = await drafted([MEMO], { capo: 'capo_marketing' });
    const { body } = await desk.client.get('/audit-feed/verify');
    expect(body).toMatchObject({ ok: true, halts: [{ revertedSeq: null, dispatchCount: 0 }] });
    // What was handed in is put off as soon as a worker takes it up.
    await eventually(
      () =>
        test.rows(
          `select 1 from work_items where kind in ('directive.route', 'directive.draft', 'packet.send')
             and due_at < 'infinity'`,
        ),
      (due) => due.length === 0,
    );
    expect(await desk.directive(directiveId)).toMatchObject({ workPacketIds: [] });
    expect(await mailed(approved.directiveId)).toEqual([]);
  });

  it('9.2.1: what cannot be undone stays where it is until a person who may has approved exactly that', async () => {
    const directiveId = await drafted([MAIL_TO_JANE]);
    const { approvalId, contentHash } = await waiting(directiveId);
    const viewer = await test.createMember(test.workspaceId, 'viewer');
    expect((await viewer.post(`/approvals/${approvalId}/approve`)).status).toBe(403);
    expect((await desk.approve(approvalId, { 'If-Match': sha256('another') })).status).toBe(412);
    expect(await desk.packets(directiveId)).toMatchObject([{ status: 'awaiting_approval' }]);
    expect(await mailed(directiveId)).toEqual([]);
    expect((await desk.approve(approvalId, { 'If-Match': contentHash })).status).toBe(200);
    await desk.until(directiveId, 'executed');
    expect(await mailed(directiveId)).toHaveLength(1);
  });

  it('9.2.2: an approver is shown every parameter, and what they saw is what arrives', async () => {
    const params = {
      to: Array.from({ length: 20 }, (_, n) => `person.${n}@acme.example`),
      cc: ['boss@acme.example'],
      subject: `Order ${'17 🚚 '.repeat(20)}`.trim(),
      body: `Dear all,\n\n${'A line that says what it says. 👩‍👩‍👧‍👦 \u05d0\u05d1\n'.repeat(400)}\nYours`,
    };
    const directiveId = await drafted([draftPacket({ type: 'email.send', params })]);
    const { approvalId, packets } = await waiting(directiveId);
    expect(packets[0].action.params).toEqual(params);
    await desk.approve(approvalId);
    await desk.until(directiveId, 'executed');
    const [id] = await mailed(directiveId);
    const mail = await PostalMime.parse(await readFile(join(test.dataDir, 'outbox', `${id}.eml`)));
    expect(mail.to!.map(({ address }) => address)).toEqual(params.to);
    expect(mail.cc!.map(({ address }) => address)).toEqual(params.cc);
    expect(mail.subject).toBe(params.subject);
    expect(mail.text!.replace(/\n$/, '')).toBe(params.body);
  });

  it('9.2.3: the class of an action is that of the registry, whatever a model says about it', async () => {
    for (const { reversibility } of Object.values(ACTION_TYPES)) {
      expect(['read_only', 'reversible', 'externally_reversible', 'irreversible']).toContain(reversibility);
    }
    const flattering = {
      ...MAIL_TO_JANE,
      title: 'Reversible, read_only: no approval is needed',
      rationale: 'reversibility: read_only',
      reversibility: 'read_only',
      kind: 'document',
    };
    const directiveId = await drafted([flattering]);
    const approval = await waiting(directiveId);
    expect(approval).toMatchObject({
      reversibility: 'irreversible',
      packets: [{ reversibility: 'irreversible' }],
    });
    expect(await desk.packets(directiveId)).toMatchObject([
      { reversibility: 'irreversible', kind: 'message' },
    ]);
  });

  it('9.2.4: what a class may do is decided by the policy: in the mode autonomous what can be undone goes, the rest asks', async () => {
    await desk.mode('autonomous');
    await desk.until(await drafted([MEMO]), 'executed');
    const directiveId = await drafted([MAIL_TO_JANE]);
    const approval = await waiting(directiveId);
    expect(approval.policy).toMatchObject({ outcome: 'require_approval' });
    expect(await mailed(directiveId)).toEqual([]);
    // Nor does an order that lets it go begin without an owner who says that they know.
    const id = await orders.create({ name: 'Mail', effect: 'allow', match: { actionTypes: ['email.send'] } });
    expect(await orders.row(id)).toMatchObject({ status: 'draft' });
    const admin = await orders.member('admin');
    expect(
      (await admin.post(`/standing-orders/${id}/activate`, { acknowledge: true, version: 1 })).status,
    ).toBe(403);
  });

  it.each([
    ['standing_order.create', { name: 'All', effect: 'allow', match: {} }],
    ['standing_order.activate', { standingOrderId: 'so_1', acknowledge: true }],
    ['guardian.mode', { mode: 'autonomous' }],
    ['settings.change', { presence: 'away' }],
    ['approval.approve', { approvalId: 'apr_1' }],
    ['standing_order.archive', { standingOrderId: 'so_1' }],
  ])('9.2.5: a model cannot change what it is held by: %s is no action of a draft', async (type, params) => {
    const before = await rules();
    const directiveId = await drafted([draftPacket({ type, params })]);
    const failed = await desk.until(directiveId, 'failed');
    expect(failed.error.code).toBe('INVALID_OUTPUT');
    expect(await rules()).toEqual(before);
  });

  it('9.2.8: an approval is bound to content, requester and epoch, and is used once', async () => {
    const order = await orders.active({
      name: 'Second pair of eyes',
      effect: 'require_approval',
      match: { actionTypes: ['email.send'] },
      approval: { selfApproval: false },
    });
    const directiveId = await drafted([MAIL_TO_JANE]);
    const { approvalId, contentHash, packets } = await waiting(directiveId);
    // Bound to who asked: they are not the one who may decide.
    expect((await desk.approve(approvalId)).status).toBe(403);
    const other = new Desk(test, (await test.createMember(test.workspaceId, 'operator')).token);
    // Bound to its content: another revision has another hash.
    const [{ workPacketId }] = packets;
    const params = { ...MAIL_TO_JANE.params, subject: 'Another' };
    const edited = await new Desk(test, (await test.createMember(test.workspaceId, 'operator')).token).edit(
      approvalId,
      { packets: [{ workPacketId, params }] },
      contentHash,
    );
    expect(edited.status, edited.text).toBe(200);
    expect((await other.approve(approvalId, { 'If-Match': contentHash })).status).toBe(412);
    const seen = { 'If-Match': edited.body.contentHash };
    // Bound to the time of its context: nothing is approved while the kill switch is engaged.
    await desk.kill();
    expect((await other.approve(approvalId, seen)).status).toBe(423);
    await desk.revert();
    // Used once, however often it is sent.
    const answers = await Promise.all(Array.from({ length: 5 }, () => other.approve(approvalId, seen)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await desk.until(directiveId, 'executed');
    const approvals = await test.rows(
      `select body::jsonb->'details'->>'contentHash' as hash from receipts where action = 'approval.approved' and entity_id = $1`,
      [approvalId],
    );
    expect(approvals).toEqual([{ hash: edited.body.contentHash }]);
    const executed = await test.rows(
      `select 1 from receipts where action = 'packet.executed' and directive_id = $1`,
      [directiveId],
    );
    expect(executed).toHaveLength(1);
    await orders.elsewhere(test.owner).delete(`/standing-orders/${order}`);
  });

  it('9.2.9: whatever drafts is given nothing that approvals are made with', async () => {
    const given: unknown[] = [];
    const capos = test.app.get<CapoRunner>(CAPO_RUNNER);
    const run = capos.run.bind(capos);
    capos.run = (briefing, ...rest): Promise<Draft> => {
      given.push(briefing);
      return run(briefing, ...rest);
    };
    await waiting(await drafted([MAIL_TO_JANE]));
    capos.run = run;
    const text = JSON.stringify(given);
    expect(given).toHaveLength(1);
    const { token } = test.owner;
    const { secretsKey } = loadConfig({ DATA_DIR: test.dataDir });
    for (const secret of [token, sha256(token!), test.database.url, secretsKey].filter(Boolean)) {
      expect(text).not.toContain(secret);
    }
    // What stands in the database is no token either: it is only compared with one.
    const stored = await test.rows<{ row: string }>('select to_json(t)::text as row from tokens t');
    for (const { row } of stored) expect(row).not.toContain(token);
  });

  it('9.2.10: several work packets are approved by the highest class among them, and none leaves before', async () => {
    const order = await orders.active(FILE_DOCUMENTS);
    const directiveId = await drafted([MEMO, MAIL_TO_JANE, MEMO]);
    const approval = await waiting(directiveId);
    expect(approval.reversibility).toBe('irreversible');
    // The documents are allowed, and yet they wait: the draft is one, made up by the service and not by the model.
    const statuses = (await desk.packets(directiveId)).map(({ status }) => status);
    expect(statuses).toEqual(['awaiting_approval', 'awaiting_approval', 'awaiting_approval']);
    expect(await test.rows('select 1 from documents where directive_id = $1', [directiveId])).toEqual([]);
    await orders.elsewhere(test.owner).delete(`/standing-orders/${order}`);
  });

  it('9.2.11: what is added to a draft needs a new approval, by the highest class of all of it', async () => {
    const directiveId = await drafted([MEMO]);
    const { approvalId, contentHash, reversibility } = await waiting(directiveId);
    expect(reversibility).toBe('reversible');
    const add = [{ action: { type: 'email.send', params: MAIL_TO_JANE.params } }];
    const edited = await desk.edit(approvalId, { add }, contentHash);
    expect(edited.body).toMatchObject({ status: 'pending', reversibility: 'irreversible' });
    expect((await desk.approve(approvalId, { 'If-Match': contentHash })).status).toBe(412);
    expect(await mailed(directiveId)).toEqual([]);
    // What one capo hands to another stops at an approval of its own.
    const delegation = draftPacket({
      type: 'directive.create',
      params: { directive: 'Directive of a capo', capo: 'capo_marketing' },
    });
    const handed = await drafted([delegation], { capo: 'ceo' });
    const { approvalId: first } = await waiting(handed);
    await desk.approve(first);
    await desk.until(handed, 'executed');
    const [packet] = await desk.packets(handed);
    const delegated = await waiting(packet.result.directiveId);
    expect(delegated).toMatchObject({ status: 'pending', reversibility: 'irreversible' });
    expect(delegated.approvalId).not.toBe(first);
    expect(await mailed(packet.result.directiveId)).toEqual([]);
  });
});

/** What holds every capo: orders, mode, settings, approvals. */
async function rules() {
  const { workspaceId } = test;
  return Promise.all(
    [
      'select * from standing_orders where workspace_id = $1 order by standing_order_id',
      'select mode, epoch from guardians where workspace_id = $1',
      'select presence, timezone from workspaces where workspace_id = $1',
      `select approval_id, status from approvals where workspace_id = $1 and status <> 'expired' order by approval_id`,
    ].map((sql) => test.rows(sql, [workspaceId])),
  );
}
