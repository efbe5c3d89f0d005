import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Approvals } from '../../../src/features/approvals/approvals.repository.js';
import { Channel } from '../../../src/platform/database/channel.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk, DOCUMENT, expectUnbroken, MAIL } from '../directives/desk.js';

let test: TestApp;
let desk: Desk;
beforeAll(async () => {
  test = await startTestApp();
  desk = new Desk(test);
});
afterAll(() => test.close());

const sent = () => readdir(join(test.dataDir, 'outbox')).catch(() => [] as string[]);
const age = (approvalId: string) =>
  test.rows(`update approvals set expires_at = now() - interval '1 second' where approval_id = $1`, [
    approvalId,
  ]);

/** Keeps the capo of a desk from drafting. */
const stopCapo = (workspaceId: string, capo: string) =>
  test.rows(`insert into paused_capos values ($1, $2, '{}', now()) on conflict do nothing`, [
    workspaceId,
    capo,
  ]);

/** A workspace of one's own, so that lists hold what the test put there. */
async function ownDesk() {
  const { workspaceId, owner } = await test.createWorkspace();
  return { workspaceId, own: new Desk(test, owner.token) };
}

describe('GET /approvals', () => {
  it('lists what is pending, urgent and oldest first', async () => {
    const { own } = await ownDesk();
    const plain = await own.handInReady({ text: DOCUMENT, capo: 'capo_ops' });
    const second = await own.handInReady({ text: DOCUMENT, capo: 'capo_product' });
    const high = await own.handInReady({ text: DOCUMENT, capo: 'capo_ops', priority: 'high' });
    const ending = await own.handInReady({ text: DOCUMENT, capo: 'capo_ops' });
    await test.rows(
      `update approvals set expires_at = now() + interval '119 minutes' where approval_id = $1`,
      [ending.approvalId],
    );
    const decided = await own.handInReady({ text: DOCUMENT, capo: 'capo_ops' });
    await own.reject(decided.approvalId);

    const { status, body } = await own.client.get('/approvals');
    expect(status).toBe(200);
    expect(body).toMatchObject({ total: 4, limit: 20, offset: 0 });
    const ids = (list: { items: { approvalId: string }[] }) => list.items.map(({ approvalId }) => approvalId);
    expect(ids(body)).toEqual([high, ending, plain, second].map(({ approvalId }) => approvalId));
    expect(body.items.map(({ urgent }: { urgent: boolean }) => urgent)).toEqual([true, true, false, false]);

    const list = async (query: string) => ids((await own.client.get(`/approvals?${query}`)).body);
    expect(await list('urgent=true')).toEqual([high.approvalId, ending.approvalId]);
    expect(await list('urgent=false')).toEqual([plain.approvalId, second.approvalId]);
    expect(await list('capo=capo_product')).toEqual([second.approvalId]);
    expect(await list('status=rejected')).toEqual([decided.approvalId]);
    expect(await list('limit=1&offset=2')).toEqual([plain.approvalId]);
    expect(await list('offset=9')).toEqual([]);
  });

  it('filters by team, and shows nobody the approvals of a foreign team', async () => {
    const { workspaceId, own } = await ownDesk();
    const [teamA, teamB] = [await test.createTeam(workspaceId, 'A'), await test.createTeam(workspaceId, 'B')];
    const a = new Desk(test, (await test.createMember(workspaceId, 'operator', [teamA])).token);
    const b = new Desk(test, (await test.createMember(workspaceId, 'operator', [teamB])).token);
    const none = new Desk(test, (await test.createMember(workspaceId, 'operator')).token);
    const ofA = await a.handInReady();
    const ofB = await b.handInReady();
    const ofNone = await none.handInReady();
    const total = async (who: Desk, query = '') => (await who.client.get(`/approvals${query}`)).body.total;
    expect([await total(own), await total(a), await total(b), await total(none)]).toEqual([3, 1, 1, 1]);
    expect([await total(own, `?teamId=${teamB}`), await total(a, `?teamId=${teamB}`)]).toEqual([1, 0]);
    for (const [who, foreign] of [
      [a, ofB],
      [a, ofNone],
      [b, ofA],
      [none, ofA],
    ] as const) {
      expect((await who.client.get(`/approvals/${foreign.approvalId}`)).status).toBe(404);
      expect((await who.approve(foreign.approvalId)).status).toBe(404);
      expect((await who.reject(foreign.approvalId)).status).toBe(404);
    }
  });

  it.each([
    'status=open',
    'capo=capo_sales',
    'teamId=x',
    'urgent=yes',
    'limit=0',
    'limit=101',
    'offset=-1',
    'x=1',
  ])('refuses ?%s with 422', async (query) => {
    expect((await desk.client.get(`/approvals?${query}`)).status).toBe(422);
  });
});

describe('GET /approvals/{id}', () => {
  it('shows everything that is decided on', async () => {
    const { directiveId, approvalId, approval } = await desk.handInReady();
    expect(approval).toEqual({
      approvalId,
      directiveId,
      actionRequestId: null,
      agent: null,
      questionId: null,
      question: null,
      answer: null,
      teamId: null,
      capo: expect.stringMatching(/^capo_/),
      kind: 'output',
      status: 'pending',
      ready: true,
      title: MAIL,
      summary: expect.any(String),
      priority: 'medium',
      urgent: false,
      waitingFor: { reason: 'decision', message: 'A person has to approve or reject it.' },
      risk: 'medium',
      riskReasons: [],
      groupKey: 'capo_ops email.send acme.example medium',
      inputsNeeded: 0,
      reversibility: 'irreversible',
      output: expect.objectContaining({ format: 'markdown' }),
      packets: [expect.objectContaining({ reversibility: 'irreversible', contentHash: expect.any(String) })],
      contentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      revisions: [expect.objectContaining({ n: 1, author: 'capo', contentHash: approval.contentHash })],
      policy: { outcome: 'require_approval', explanation: expect.any(Array) },
      requestedBy: expect.objectContaining({ type: 'member', via: 'api' }),
      requestedAt: expect.any(Number),
      expiresAt: expect.any(Number),
      onExpiry: 'reject',
      votes: { have: 0, need: 1, by: [], approvers: [] },
      decidedAt: null,
      decidedBy: null,
      decidedVia: null,
      feedback: null,
      receiptId: null,
      nextApprovalId: null,
      drafting: null,
      sources: [
        {
          workPacketId: approval.packets[0].workPacketId,
          path: 'params.to',
          kind: 'recipient',
          text: approval.packets[0].action.target,
          origin: 'directive',
          name: approval.requestedBy.name,
        },
      ],
      mayApprove: [{ memberId: expect.stringMatching(/^mem_/), name: approval.requestedBy.name }],
      refusal: null,
    });
    const hours = (approval.expiresAt - approval.requestedAt) / 3_600_000;
    expect(hours).toBeGreaterThan(71.9);
    expect(hours).toBeLessThan(72.1);
  });

  it('waits until the draft is ready, until it is decided, or as long as was asked', async () => {
    const { workspaceId, own } = await ownDesk();
    await stopCapo(workspaceId, 'capo_ops');
    const { approvalId } = await own.handIn({ text: DOCUMENT, capo: 'capo_ops' });
    const unready = await own.client.get(`/approvals/${approvalId}?wait=1`);
    expect(unready.body).toMatchObject({ ready: false, status: 'pending', packets: [], contentHash: null });

    const subscribe = vi.spyOn(test.app.get(Channel), 'subscribe');
    // Longer than the test may take.
    const waiting = own.client.get(`/approvals/${approvalId}?wait=20`);
    await vi.waitFor(() => expect(subscribe).toHaveBeenCalledWith('approval', expect.any(Function)));
    await own.reject(approvalId);
    expect((await waiting).body).toMatchObject({ status: 'rejected' });
  });

  it.each(['31', '-1', 'x', '1.5'])('refuses ?wait=%s with 422', async (wait) => {
    expect((await desk.client.get(`/approvals/${newId('apr')}?wait=${wait}`)).status).toBe(422);
  });

  it('answers 404 for what does not exist, whatever its id looks like', async () => {
    for (const id of [newId('apr'), 'apr_x', 'x', "'; drop table approvals; --", '%00']) {
      expect((await desk.client.get(`/approvals/${encodeURIComponent(id)}?wait=5`)).status).toBe(404);
    }
  });
});

describe('POST /approvals/{id}/approve', () => {
  it('answers what was decided, and the same decision again the same answer', async () => {
    const { directiveId, approvalId, approval } = await desk.handInReady();
    const first = await desk.approve(approvalId, { 'If-Match': `"${approval.contentHash}"` });
    expect(first.status).toBe(200);
    expect(first.body).toEqual({
      approvalId,
      status: 'approved',
      votes: { have: 1, need: 1 },
      directiveId,
      directiveStatus: 'sending',
      decidedAt: expect.any(Number),
      receiptId: expect.stringMatching(/^rcp_/),
    });
    await desk.until(directiveId, 'executed');
    const again = await desk.approve(approvalId);
    expect(again.status).toBe(200);
    expect(again.body).toEqual({ ...first.body, directiveStatus: 'executed' });
    expect((await desk.actions(directiveId)).filter((action) => action === 'approval.approved')).toHaveLength(
      1,
    );
    expect(await desk.approval(approvalId)).toMatchObject({
      status: 'approved',
      urgent: false,
      decidedBy: { type: 'member' },
      decidedVia: 'api',
      receiptId: first.body.receiptId,
    });

    const opposite = await desk.reject(approvalId);
    expect(opposite.status).toBe(409);
    expect(opposite.body.error).toMatchObject({
      code: 'APPROVAL_ALREADY_DECIDED',
      details: { status: 'approved' },
    });
  });

  it('twenty approvals at once send one mail', async () => {
    const { directiveId, approvalId } = await desk.handInReady();
    const before = (await sent()).length;
    const answers = await Promise.all(Array.from({ length: 20 }, () => desk.approve(approvalId)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(new Set(answers.map(({ body }) => body.receiptId)).size).toBe(1);
    await desk.until(directiveId, 'executed');
    expect(await sent()).toHaveLength(before + 1);
  });

  it('of approve and reject at the same moment one wins, and the mail goes by it', async () => {
    for (let round = 0; round < 5; round++) {
      const { directiveId, approvalId } = await desk.handInReady();
      const [approved, rejected] = await Promise.all([desk.approve(approvalId), desk.reject(approvalId)]);
      expect([approved.status, rejected.status].toSorted()).toEqual([200, 409]);
      await desk.until(directiveId, approved.status === 200 ? 'executed' : 'rejected');
    }
  });

  it('is 409 with Retry-After while the draft is being made', async () => {
    const { workspaceId, own } = await ownDesk();
    await stopCapo(workspaceId, 'capo_ops');
    const { approvalId } = await own.handIn({ text: DOCUMENT, capo: 'capo_ops' });
    const refused = await own.approve(approvalId);
    expect(refused.status).toBe(409);
    expect(refused.body.error.code).toBe('APPROVAL_NOT_READY');
    expect(refused.headers.get('retry-after')).toBe('1');
  });

  it('is 412 when If-Match names another content', async () => {
    const { approvalId, approval } = await desk.handInReady();
    for (const tag of ['"0"', '', 'x'.repeat(64)]) {
      const refused = await desk.approve(approvalId, { 'If-Match': tag });
      expect(refused.status).toBe(412);
      expect(refused.body.error).toMatchObject({
        code: 'CONTENT_CHANGED',
        details: { contentHash: approval.contentHash },
      });
    }
    expect((await desk.approve(approvalId, { 'If-Match': '*' })).status).toBe(200);
  });

  it('is 410 when it has expired, before the clock has come by and after', async () => {
    const { directiveId, approvalId } = await desk.handInReady();
    await age(approvalId);
    const refused = await desk.approve(approvalId);
    expect(refused.status).toBe(410);
    expect(refused.body.error.code).toBe('APPROVAL_EXPIRED');
    expect((await desk.reject(approvalId)).status).toBe(410);

    const expired = await desk.until(directiveId, 'expired');
    expectUnbroken(expired);
    expect(await desk.approval(approvalId)).toMatchObject({
      status: 'expired',
      decidedBy: { type: 'system' },
      decidedVia: 'schedule',
    });
    expect((await desk.approve(approvalId)).status).toBe(410);
    expect((await desk.packets(directiveId)).map(({ status }: { status: string }) => status)).toEqual([
      'cancelled',
    ]);
    expect((await desk.actions(directiveId)).slice(-2)).toEqual(['approval.expired', 'directive.expired']);
  });

  it('is 410 once the deadline of its directive has passed, before the clock has come by and after', async () => {
    const deadline = new Date(Date.now() + 3_600_000).toISOString();
    const { directiveId, approvalId } = await desk.handInReady({ text: MAIL, deadline });
    const before = await desk.approval(approvalId);
    expect(new Date(before.expiresAt).toISOString()).toBe(deadline);
    // As after a kill that the approval was frozen in, when its own expiry lies ahead again.
    for (const [table, more] of [
      ['approvals', `, expires_at = now() + interval '1 h'`],
      ['directives', ''],
    ]) {
      await test.rows(
        `update ${table} set deadline = now() - interval '1 ms' ${more} where directive_id = $1`,
        [directiveId],
      );
    }
    const refused = await desk.approve(approvalId);
    expect(refused.status, refused.text).toBe(410);
    expect(refused.body.error.code).toBe('APPROVAL_EXPIRED');
    expect((await desk.reject(approvalId)).status).toBe(410);
    const together = await desk.client.post('/approvals', {
      decisions: [{ approvalId, decision: 'approve' }],
    });
    expect(together.body.results).toMatchObject([{ error: { code: 'APPROVAL_EXPIRED', status: 410 } }]);

    await desk.until(directiveId, 'expired');
    expect((await desk.approve(approvalId)).status).toBe(410);
    expect((await desk.packets(directiveId)).map(({ status }: { status: string }) => status)).toEqual([
      'cancelled',
    ]);
  });

  it('is 403 for who asked, when an order wants somebody else', async () => {
    const { approvalId } = await desk.handInReady();
    await test.rows('update approvals set self_approval = false where approval_id = $1', [approvalId]);
    expect((await desk.approve(approvalId)).status).toBe(403);
    const other = new Desk(test, (await test.createMember(test.workspaceId, 'operator')).token);
    expect((await other.approve(approvalId)).status).toBe(200);
  });

  it('is 401 without a token, 403 for a viewer, 404 for another workspace', async () => {
    const { approvalId } = await desk.handInReady();
    const { own } = await ownDesk();
    const viewer = await test.createMember(test.workspaceId, 'viewer');
    for (const act of ['approve', 'reject']) {
      const body = act === 'reject' ? { feedback: 'No.' } : undefined;
      const post = (client: Client) => client.post(`/approvals/${approvalId}/${act}`, body);
      expect((await post(new Client(test.url, undefined))).status).toBe(401);
      expect((await post(viewer)).status).toBe(403);
      expect((await post(own.client)).status).toBe(404);
    }
    expect((await viewer.get(`/approvals/${approvalId}`)).status).toBe(200);
    expect((await viewer.post('/approvals', { approvalId, decision: 'approve' })).status).toBe(403);
    expect(await desk.approval(approvalId)).toMatchObject({ status: 'pending' });
  });
});

describe('what is approved is what is sent', () => {
  it.each([
    ['the recipient', `params = jsonb_set(params, '{to}', '["eve@evil.example"]')`],
    ['the text', `params = jsonb_set(params, '{body}', '"Pay at once."')`],
    ['the type of the work packet', `action_type = 'document.file', params = '{"title": "x", "body": "y"}'`],
    ['the named target', `target = 'eve@evil.example'`],
  ])('a packet of which %s was changed after the approval is not sent', async (_what, change) => {
    const { directiveId, approvalId } = await desk.handInReady();
    const before = (await sent()).length;
    // The change has to come between the approval and the sending, so the sending is made to wait.
    await test.rows(
      `create or replace function delayed() returns trigger language plpgsql as $$
       begin
         new.due_at := now() + interval '1 hour';
         return new;
       end $$`,
    );
    await test.rows(
      `create trigger delayed before insert on work_items for each row when (new.kind = 'packet.send')
       execute function delayed()`,
    );
    expect((await desk.approve(approvalId)).status).toBe(200);
    await test.rows('drop trigger delayed on work_items');
    const [changed] = await test.rows<{ id: string }>(
      `update work_packets set ${change} where directive_id = $1 and status = 'queued'
       returning work_packet_id as id`,
      [directiveId],
    );
    await test.rows('update work_items set due_at = now() where id = $1', [changed!.id]);
    const failed = await desk.until(directiveId, 'failed');
    expect(failed.error.code).toBe('PACKET_FAILED');
    expectUnbroken(failed);
    const [packet] = await desk.packets(directiveId);
    expect(packet).toMatchObject({ status: 'failed', result: { error: { code: 'CONTENT_CHANGED' } } });
    expect(await desk.actions(directiveId)).toContain('packet.failed');
    expect(await sent()).toHaveLength(before);
    const signals = await test.rows(`select severity from signals where entity->>'id' = $1`, [
      packet.workPacketId,
    ]);
    expect(signals).toEqual([{ severity: 'warning' }]);
  });
});

describe('POST /approvals/{id}/reject', () => {
  it('ends the directive with the reason', async () => {
    const { directiveId, approvalId } = await desk.handInReady();
    const rejected = await desk.reject(approvalId, { feedback: 'Not in this tone.' });
    expect(rejected.status).toBe(200);
    expect(rejected.body).toMatchObject({ status: 'rejected', directiveStatus: 'rejected', directiveId });
    expect(await desk.approval(approvalId)).toMatchObject({
      status: 'rejected',
      feedback: 'Not in this tone.',
    });
    expectUnbroken(await desk.directive(directiveId));
    expect((await desk.packets(directiveId))[0].status).toBe('cancelled');
    expect((await desk.reject(approvalId)).body).toEqual(rejected.body);
    expect((await desk.approve(approvalId)).status).toBe(409);
    expect((await desk.reject(approvalId, { feedback: 'Again.', revise: true })).status).toBe(409);
  });

  it.each(
    [
      {},
      { feedback: '' },
      { feedback: '  \n' },
      { feedback: 7 },
      { feedback: 'x', revise: 'yes' },
      { feedback: 'x', why: 'y' },
      { feedback: 'x'.repeat(10_001) },
    ].map((body) => [JSON.stringify(body).slice(0, 60), body] as const),
  )('refuses %s with 422', async (_text, body) => {
    const { approvalId } = await desk.handInReady();
    expect((await desk.reject(approvalId, body)).status).toBe(422);
    expect(await desk.approval(approvalId)).toMatchObject({ status: 'pending' });
  });

  it('with revise has another draft made that asks about the feedback, and nothing of the old one is sent', async () => {
    const before = (await sent()).length;
    const { directiveId, approvalId, approval } = await desk.handInReady();
    const revised = await desk.reject(approvalId, {
      feedback: 'cc bob@acme.example',
      revise: true,
    });
    expect(revised.body).toMatchObject({ status: 'changes_requested', directiveStatus: 'pending_approval' });
    const directive = await desk.directive(directiveId);
    expect(directive.approvalId).not.toBe(approvalId);
    const returned = await desk.ready(directive.approvalId);
    const [{ workPacketId, action, needsInput }] = returned.packets;
    expect(needsInput).toMatchObject([{ message: expect.stringContaining('cc bob@acme.example') }]);
    const params = { ...action.params, cc: ['bob@acme.example'] };
    const edit = { packets: [{ workPacketId, params, confirm: ['params.body'] }] };
    const { body: next } = await desk.edit(returned.approvalId, edit, returned.contentHash);
    expect(next.contentHash).not.toBe(approval.contentHash);
    expect(next.packets[0].action.params.cc).toEqual(['bob@acme.example']);
    expect(next.packets[0].workPacketId).not.toBe(approval.packets[0].workPacketId);
    expect((await desk.approve(approvalId)).status).toBe(409);
    // The old content approves nothing, even against the new approval.
    expect((await desk.approve(next.approvalId, { 'If-Match': approval.contentHash })).status).toBe(412);
    expect((await desk.approve(next.approvalId, { 'If-Match': next.contentHash })).status).toBe(200);
    expectUnbroken(await desk.until(directiveId, 'executed'));
    expect(await sent()).toHaveLength(before + 1);
    expect(await sent()).toContain(`${next.packets[0].workPacketId}.eml`);
    const statuses = (await desk.packets(directiveId)).map(({ status }: { status: string }) => status);
    expect(statuses.toSorted()).toEqual(['cancelled', 'executed']);
  });

  it('takes five rounds of it and no more', async () => {
    const { directiveId, approvalId } = await desk.handInReady();
    let current = approvalId;
    for (let round = 1; round <= 5; round++) {
      expect((await desk.reject(current, { feedback: `Round ${round}.`, revise: true })).status).toBe(200);
      current = (await desk.directive(directiveId)).approvalId;
      await desk.ready(current);
    }
    const refused = await desk.reject(current, { feedback: 'Once more.', revise: true });
    expect(refused.status).toBe(409);
    expect(refused.body.error.code).toBe('INVALID_TRANSITION');
    expect((await desk.reject(current, { feedback: 'Then not.' })).status).toBe(200);
    expect((await desk.directive(directiveId)).status).toBe('rejected');
  });

  it('with revise is 409 while there is no draft yet, and a plain refusal is not', async () => {
    const { workspaceId, own } = await ownDesk();
    await stopCapo(workspaceId, 'capo_ops');
    const { directiveId, approvalId } = await own.handIn({ text: DOCUMENT, capo: 'capo_ops' });
    const early = await own.reject(approvalId, { feedback: 'Shorter.', revise: true });
    expect(early.status).toBe(409);
    expect(early.body.error.code).toBe('APPROVAL_NOT_READY');
    expect((await own.reject(approvalId)).status).toBe(200);
    expectUnbroken(await own.directive(directiveId));
  });
});

describe('POST /approvals', () => {
  it('reads nothing of what the drafts were before, of which each may hold 2 MB', async () => {
    const { approvalId } = await desk.handInReady({ text: MAIL });
    const { text, values } = test.app.get(Approvals).lockStatement(test.workspaceId, [approvalId]);
    const [locked] = await test.rows(text, values as unknown[]);
    expect(locked).toHaveProperty('packets');
    expect(locked).not.toHaveProperty('revisions');
  });

  it('decides one', async () => {
    const { directiveId, approvalId } = await desk.handInReady();
    const { status, body } = await desk.client.post('/approvals', { approvalId, decision: 'approve' });
    expect(status).toBe(200);
    expect(body).toEqual({
      results: [
        {
          approvalId,
          status: 'approved',
          votes: { have: 1, need: 1 },
          receiptId: expect.stringMatching(/^rcp_/),
        },
      ],
    });
    await desk.until(directiveId, 'executed');
  });

  it('decides many, each for itself', async () => {
    const { own } = await ownDesk();
    const foreign = await own.handInReady();
    const [a, b, c, late] = await Promise.all([1, 2, 3, 4].map(() => desk.handInReady()));
    await age(late!.approvalId);
    const decisions = [
      { approvalId: a!.approvalId, decision: 'approve' },
      { approvalId: newId('apr'), decision: 'approve' },
      { approvalId: b!.approvalId, decision: 'reject', feedback: 'No.' },
      { approvalId: foreign.approvalId, decision: 'reject', feedback: 'No.' },
      { approvalId: late!.approvalId, decision: 'approve' },
      { approvalId: c!.approvalId, decision: 'reject', feedback: 'Shorter.', revise: true },
    ];
    const { status, body } = await desk.client.post('/approvals', { decisions });
    expect(status).toBe(200);
    expect(body.results.map((result: { approvalId: string }) => result.approvalId)).toEqual(
      decisions.map(({ approvalId }) => approvalId),
    );
    expect(body.results).toMatchObject([
      { status: 'approved' },
      { error: { code: 'NOT_FOUND', status: 404 } },
      { status: 'rejected' },
      { error: { code: 'NOT_FOUND', status: 404 } },
      { error: { code: 'APPROVAL_EXPIRED', status: 410 } },
      { status: 'changes_requested' },
    ]);
    await desk.until(a!.directiveId, 'executed');
    await desk.until(b!.directiveId, 'rejected');
    await desk.ready((await desk.directive(c!.directiveId)).approvalId);
    expect(await own.approval(foreign.approvalId)).toMatchObject({ status: 'pending' });
  });

  it('once per Idempotency-Key', async () => {
    const { directiveId, approvalId } = await desk.handInReady();
    const key = { 'Idempotency-Key': newId('req') };
    const [first, second] = await Promise.all(
      [1, 2].map(() => desk.client.post('/approvals', { approvalId, decision: 'approve' }, key)),
    );
    expect(first!.body).toEqual(second!.body);
    expect([first, second].filter((one) => one!.headers.get('idempotent-replayed') === 'true')).toHaveLength(
      1,
    );
    await desk.until(directiveId, 'executed');
  });

  const id = newId('apr');
  it.each(
    [
      {},
      { approvalId: id },
      { approvalId: id, decision: 'maybe' },
      { approvalId: id, decision: 'reject' },
      { approvalId: 'x', decision: 'approve' },
      { decisions: [] },
      {
        decisions: [
          { approvalId: id, decision: 'approve' },
          { approvalId: id, decision: 'reject', feedback: 'No.' },
        ],
      },
      { decisions: [{ approvalId: id, decision: 'reject' }] },
      { decisions: Array.from({ length: 101 }, () => ({ approvalId: newId('apr'), decision: 'approve' })) },
      { decisions: 'all' },
      { approvalId: id, decision: 'approve', decisions: [{ approvalId: newId('apr'), decision: 'approve' }] },
    ].map((body) => [JSON.stringify(body).slice(0, 110), body] as const),
  )('refuses %s with 422', async (_text, body) => {
    expect((await desk.client.post('/approvals', body)).status).toBe(422);
  });
});
