import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Directives } from '../../../src/features/directives/directives.repository.js';
import { Db } from '../../../src/platform/database/db.js';
import { Work } from '../../../src/platform/work/work.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { untilSwept } from '../../support/sweep.js';
import { queueWork } from '../guardian/queued-work.js';
import { startMailServer } from '../mail/mail-server.js';
import { Desk, DOCUMENT, expectUnbroken, MAIL } from './desk.js';

let test: TestApp;
let desk: Desk;
beforeAll(async () => {
  test = await startTestApp();
  desk = new Desk(test);
});
afterAll(() => test.close());

const soon = (ms: number) => new Date(Date.now() + ms).toISOString();
const pauseCapo = (workspaceId: string, capo: string) =>
  test.rows(`insert into paused_capos values ($1, $2, '{}', now()) on conflict do nothing`, [
    workspaceId,
    capo,
  ]);

async function ownDesk() {
  const { workspaceId, owner } = await test.createWorkspace();
  return { workspaceId, own: new Desk(test, owner.token) };
}

/** An active standing order of the workspace. */
const order = (workspaceId: string, effect: string, match: object = {}) =>
  test.rows(
    `insert into standing_orders (standing_order_id, workspace_id, name, text, status, effect, match, hash, created_by,
       created_at, updated_at) values ($1, $2, 'An order', 'An order.', 'active', $3, $4, 'x', '{}', now(), now())`,
    [newId('so'), workspaceId, effect, JSON.stringify(match)],
  );

describe('POST /directive', () => {
  it('answers 201 with the ids, Location, and the defaults', async () => {
    const answer = await desk.client.post('/directive', { text: MAIL });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('location')).toBe(`/api/pro/directives/${answer.body.directiveId}`);
    expect(Object.keys(answer.body).toSorted()).toEqual(['approvalId', 'directiveId', 'status']);
    const followed = await desk.client.get(answer.headers.get('location')!);
    expect(followed.body).toMatchObject({
      directive: MAIL,
      priority: 'medium',
      requiresApproval: true,
      context: {},
      deadline: null,
      teamId: null,
      routedBy: 'consigliere',
      approvalId: answer.body.approvalId,
      createdBy: { type: 'member', via: 'api' },
    });
  });

  it("keeps the consigliere's scores and reason", async () => {
    const { directiveId, approvalId } = await desk.handInReady();
    const { capo, routing, routedBy } = await desk.directive(directiveId);
    expect(routedBy).toBe('consigliere');
    expect(routing.reason).toEqual(expect.any(String));
    expect(routing.candidates).toHaveLength(5);
    expect(routing.candidates[0].capo).toBe(capo);
    const scores = routing.candidates.map(({ score }: { score: number }) => score);
    expect(scores).toEqual(scores.toSorted((a: number, b: number) => b - a));
    expect((await desk.approval(approvalId)).capo).toBe(capo);
  });

  it('takes capo, priority, deadline, context and team', async () => {
    const teamId = await test.createTeam(test.workspaceId, `T${newId('req').slice(-6)}`);
    const deadline = soon(3_600_000);
    const { directiveId } = await desk.handIn({
      text: DOCUMENT,
      capo: 'capo_product',
      priority: 'high',
      deadline,
      context: { account: 'Acme' },
      teamId,
    });
    expect(await desk.directive(directiveId)).toMatchObject({
      capo: 'capo_product',
      routedBy: 'operator',
      routing: null,
      priority: 'high',
      deadline,
      context: { account: 'Acme' },
      teamId,
    });
  });

  it.each(
    [
      {},
      { text: '' },
      { text: ' \n ' },
      { text: 7 },
      { text: 'x'.repeat(20_001) },
      { text: 'x', capo: 'capo_sales' },
      { text: 'x', priority: 'urgent' },
      { text: 'x', deadline: '2020-01-01T00:00:00Z' },
      { text: 'x', deadline: '2027-02-29T00:00:00Z' },
      { text: 'x', deadline: '2027-01-01T00:00:00' },
      { text: 'x', deadline: 1_900_000_000_000 },
      { text: 'x', context: [] },
      { text: 'x', context: 'y' },
      { text: 'x', teamId: 'team_x' },
      { text: 'x', requiresApproval: false },
      { text: 'x', directive: 'y' },
    ].map((body) => [JSON.stringify(body).slice(0, 60), body] as const),
  )('refuses %s with 422', async (_text, body) => {
    const answer = await desk.client.post('/directive', body);
    expect(answer.status).toBe(422);
    expect(answer.body.error.code).toBe('VALIDATION_FAILED');
  });
});

describe('POST /directives', () => {
  it('answers 201 with the record, Location, and the defaults', async () => {
    const answer = await desk.client.post('/directives', { directive: DOCUMENT, capo: 'capo_ops' });
    expect(answer.status).toBe(201);
    const { directiveId, approvalId } = answer.body;
    expect(answer.headers.get('location')).toBe(`/api/pro/directives/${directiveId}`);
    expect(answer.body).toEqual({
      directiveId: expect.stringMatching(/^dir_/),
      directive: DOCUMENT,
      capo: 'capo_ops',
      routedBy: 'operator',
      routing: null,
      priority: 'medium',
      requiresApproval: true,
      context: {},
      deadline: null,
      teamId: null,
      status: 'pending_approval',
      approvalId: expect.stringMatching(/^apr_/),
      workPacketIds: [],
      output: null,
      engine: null,
      cost: { amount: 0, currency: 'USD', tokensIn: 0, tokensOut: 0 },
      error: null,
      drafting: { attempts: 0, nextAttemptAt: expect.any(Number), lastError: null },
      throttledUntil: null,
      schedule: null,
      createdBy: expect.objectContaining({ type: 'member' }),
      createdAt: expect.any(Number),
      startedAt: null,
      executedAt: null,
      history: [
        { from: null, to: 'pending_approval', at: answer.body.createdAt, receiptId: expect.any(String) },
      ],
    });
    await desk.ready(approvalId);
    expect((await desk.approve(approvalId)).status).toBe(200);
    const done = await desk.until(directiveId, 'executed');
    expect(done.executedAt).toBeGreaterThanOrEqual(done.startedAt);
    expectUnbroken(done);
    // Every change names the receipt of the change.
    const receipts = await test.rows<{ id: string }>(
      'select receipt_id as id from receipts where directive_id = $1',
      [directiveId],
    );
    const known = new Set(receipts.map(({ id }) => id));
    for (const { receiptId } of done.history) expect(known).toContain(receiptId);
    const [packet] = await desk.packets(directiveId);
    const documents = await test.rows('select title from documents where work_packet_id = $1', [
      packet.workPacketId,
    ]);
    expect(documents).toHaveLength(1);
  });

  it.each(
    [
      {},
      { directive: 'x' },
      { capo: 'ceo' },
      { directive: 'x', capo: 'boss' },
      { directive: 'x', capo: 'ceo', requiresApproval: 'no' },
      { directive: 'x', capo: 'ceo', deadline: 'tomorrow' },
      { directive: 'x', capo: 'ceo', status: 'executed' },
      { directive: '\u0000', capo: 'ceo' },
    ].map((body) => [JSON.stringify(body).slice(0, 60), body] as const),
  )('refuses %s with 422', async (_text, body) => {
    expect((await desk.client.post('/directives', body)).status).toBe(422);
  });
});

describe('both routes', () => {
  const BODIES = [
    ['/directive', { text: DOCUMENT }],
    ['/directives', { directive: DOCUMENT, capo: 'capo_ops' }],
  ] as const;

  it.each(BODIES)('POST %s is 401 without a token and 403 for a viewer', async (path, body) => {
    expect((await new Client(test.url, undefined).post(path, body)).status).toBe(401);
    const viewer = await test.createMember(test.workspaceId, 'viewer');
    const refused = await viewer.post(path, body);
    expect(refused.status).toBe(403);
    expect(refused.body.error.details.requiredRoles).toEqual(['operator', 'admin', 'owner']);
  });

  it.each(BODIES)(
    'POST %s is 404 for a team that one may not see, and takes the only team of a member',
    async (path, body) => {
      const { workspaceId, own } = await ownDesk();
      const [mine, other] = [
        await test.createTeam(workspaceId, 'Mine'),
        await test.createTeam(workspaceId, 'Other'),
      ];
      const member = await test.createMember(workspaceId, 'operator', [mine]);
      const create = async (client: Client, teamId?: string) =>
        client.post(path, { ...body, ...(teamId && { teamId }) });
      for (const teamId of [
        other,
        newId('team'),
        await test.createTeam(test.workspaceId, newId('req').slice(-9)),
      ]) {
        expect((await create(member, teamId)).status).toBe(404);
        if (teamId !== other) expect((await create(own.client, teamId)).status).toBe(404);
      }
      const { body: made } = await create(member);
      expect((await own.directive(made.directiveId)).teamId).toBe(mine);
      const both = await test.createMember(workspaceId, 'operator', [mine, other]);
      expect((await create(both)).status).toBe(422);
      expect((await create(both, other)).status).toBe(201);
    },
  );

  it.each(BODIES)('POST %s with an Idempotency-Key hands in once', async (path, body) => {
    const key = { 'Idempotency-Key': newId('req') };
    const answers = await Promise.all(Array.from({ length: 5 }, () => desk.client.post(path, body, key)));
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(201));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(new Set(answers.map(({ headers }) => headers.get('location'))).size).toBe(1);
    const other = await desk.client.post(path, { ...body, priority: 'low' }, key);
    expect(other.status).toBe(422);
    expect(other.body.error.code).toBe('IDEMPOTENCY_KEY_REUSED');
  });
});

describe('GET /directives', () => {
  it('lists newest first, with filters and pages', async () => {
    const { workspaceId, own } = await ownDesk();
    const teamId = await test.createTeam(workspaceId, 'Ops');
    const ids: string[] = [];
    for (const body of [{ capo: 'capo_ops' }, { capo: 'capo_product' }, { capo: 'capo_ops', teamId }]) {
      const { directiveId } = await own.handInReady({ text: DOCUMENT, ...body });
      ids.unshift(directiveId);
    }
    await own.client.post(`/directives/${ids[2]}/cancel`);
    const list = async (query: string) => {
      const { body } = await own.client.get(`/directives?${query}`);
      return body.items.map(({ directiveId }: { directiveId: string }) => directiveId);
    };
    expect((await own.client.get('/directives')).body).toMatchObject({ total: 3, limit: 20, offset: 0 });
    expect(await list('')).toEqual(ids);
    expect(await list('capo=capo_ops')).toEqual([ids[0], ids[2]]);
    expect(await list('status=cancelled')).toEqual([ids[2]]);
    expect(await list(`teamId=${teamId}`)).toEqual([ids[0]]);
    expect(await list('limit=1&offset=1')).toEqual([ids[1]]);
    expect(await list('capo=ceo')).toEqual([]);
  });

  it.each(['status=done', 'capo=x', 'teamId=1', 'limit=1000', 'offset=x', 'sort=asc'])(
    'refuses ?%s with 422',
    async (query) => {
      expect((await desk.client.get(`/directives?${query}`)).status).toBe(422);
    },
  );

  it('of one is 404 where there is none or a foreign one', async () => {
    const { own } = await ownDesk();
    const { directiveId } = await own.handIn();
    for (const id of [directiveId, newId('dir'), 'x', '%00']) {
      expect((await desk.client.get(`/directives/${encodeURIComponent(id)}`)).status).toBe(404);
    }
  });
});

describe('a deadline', () => {
  const passes = (directiveId: string) =>
    test.rows(`update directives set deadline = now() - interval '2 seconds' where directive_id = $1`, [
      directiveId,
    ]);
  const deadline = soon(3_600_000);

  it('that passes before anything is sent expires the directive and its approval', async () => {
    const { directiveId, approvalId } = await desk.handIn({ text: DOCUMENT, capo: 'capo_ops', deadline });
    await desk.ready(approvalId);
    await passes(directiveId);
    const expired = await desk.until(directiveId, 'expired');
    expectUnbroken(expired);
    expect(await desk.approval(approvalId)).toMatchObject({ status: 'expired' });
    expect((await desk.approve(approvalId)).status).toBe(410);
    expect((await desk.packets(directiveId))[0].status).toBe('cancelled');
  });

  it('that passes after it was sent changes nothing', async () => {
    const { directiveId, approvalId } = await desk.handIn({ text: DOCUMENT, capo: 'capo_ops', deadline });
    await desk.ready(approvalId);
    await desk.approve(approvalId);
    await desk.until(directiveId, 'executed');
    await passes(directiveId);
    await untilSwept(test);
    expect(await desk.directive(directiveId)).toMatchObject({ status: 'executed' });
  });
});

describe('POST /directives/{id}/cancel', () => {
  const cancel = (directiveId: string, who = desk) => who.client.post(`/directives/${directiveId}/cancel`);

  it('cancels it before it is sent, with its approval and its work packets', async () => {
    const { directiveId, approvalId } = await desk.handInReady();
    const cancelled = await cancel(directiveId);
    expect(cancelled.status).toBe(200);
    expect(cancelled.body.status).toBe('cancelled');
    expectUnbroken(cancelled.body);
    expect(await desk.approval(approvalId)).toMatchObject({ status: 'cancelled' });
    const approve = await desk.approve(approvalId);
    expect(approve.status).toBe(409);
    expect(approve.body.error.details).toEqual({ status: 'cancelled' });
    expect((await desk.packets(directiveId))[0].status).toBe('cancelled');
  });

  it('is 409 once it is sent, or was ended in any way', async () => {
    const { directiveId, approvalId } = await desk.handInReady();
    await desk.approve(approvalId);
    await desk.until(directiveId, 'executed');
    const refused = await cancel(directiveId);
    expect(refused.status).toBe(409);
    expect(refused.body.error).toMatchObject({ code: 'INVALID_TRANSITION', details: { status: 'executed' } });
    const other = await desk.handInReady();
    await desk.reject(other.approvalId);
    expect((await cancel(other.directiveId)).status).toBe(409);
  });

  it('and an approval at the same moment do not both happen', async () => {
    for (let round = 0; round < 8; round++) {
      const { directiveId, approvalId } = await desk.handInReady({ text: DOCUMENT, capo: 'capo_ops' });
      const [cancelled, approved] = await Promise.all([cancel(directiveId), desk.approve(approvalId)]);
      expect([cancelled.status, approved.status].toSorted()).toEqual([200, 409]);
      await desk.until(directiveId, approved.status === 200 ? 'executed' : 'cancelled');
    }
  });

  it('is 401, 403 and 404 for those who may not', async () => {
    const { directiveId } = await desk.handIn();
    const { own } = await ownDesk();
    expect((await new Client(test.url, undefined).post(`/directives/${directiveId}/cancel`)).status).toBe(
      401,
    );
    expect(
      (await (await test.createMember(test.workspaceId, 'viewer')).post(`/directives/${directiveId}/cancel`))
        .status,
    ).toBe(403);
    expect((await cancel(directiveId, own)).status).toBe(404);
    expect((await cancel(newId('dir'))).status).toBe(404);
  });
});

describe('without approval', () => {
  const free = async (who: Desk, directive = DOCUMENT) => {
    const { status, body } = await who.client.post('/directives', {
      directive,
      capo: 'capo_ops',
      requiresApproval: false,
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: 'queued', approvalId: null });
    return body.directiveId as string;
  };

  it('and without a standing order it stops at review, with a new approval that says why', async () => {
    const { own } = await ownDesk();
    const directiveId = await free(own);
    const directive = await own.until(directiveId, 'pending_approval');
    expect(directive.history.map(({ to }: { to: string }) => to)).toEqual([
      'queued',
      'executing',
      'pending_approval',
    ]);
    expectUnbroken(directive);
    const approval = await own.approval(directive.approvalId);
    expect(approval).toMatchObject({
      ready: true,
      status: 'pending',
      policy: { outcome: 'require_approval' },
    });
    expect(approval.policy.explanation.join(' ')).toMatch(/no .*(order|allow)/i);
    expect((await own.packets(directiveId))[0]).toMatchObject({
      status: 'awaiting_approval',
      decision: { outcome: 'require_approval', inputHash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect((await own.approve(directive.approvalId)).status).toBe(200);
    expectUnbroken(await own.until(directiveId, 'executed'));
  });

  it('its approval can be sent back, and expires like any other', async () => {
    const { own } = await ownDesk();
    const directiveId = await free(own);
    const { approvalId } = await own.until(directiveId, 'pending_approval');
    expect((await own.reject(approvalId, { feedback: 'Shorter.', revise: true })).status).toBe(200);
    const { approvalId: next } = await own.directive(directiveId);
    expect(next).not.toBe(approvalId);
    await own.ready(next);
    await test.rows(`update approvals set expires_at = now() - interval '1 second' where approval_id = $1`, [
      next,
    ]);
    await own.until(directiveId, 'expired');
  });

  it('within a standing order it is sent, and the order counts it', async () => {
    const { workspaceId, own } = await ownDesk();
    await order(workspaceId, 'allow', { actionTypes: ['document.file'] });
    const directiveId = await free(own);
    const done = await own.until(directiveId, 'executed');
    expect(done.history.map(({ to }: { to: string }) => to)).toEqual([
      'queued',
      'executing',
      'sending',
      'executed',
    ]);
    const uses = await test.rows(
      'select work_packet_id as id from standing_order_uses where workspace_id = $1',
      [workspaceId],
    );
    expect(uses).toEqual(done.workPacketIds.map((id: string) => ({ id })));
  });

  it('a work packet that an order denies fails it, approval or not', async () => {
    const { workspaceId, own } = await ownDesk();
    await order(workspaceId, 'deny', { actionTypes: ['document.file'] });
    const denied = await own.until(await free(own), 'failed');
    expect(denied.error).toMatchObject({
      code: 'POLICY_DENIED',
      message: expect.stringContaining('An order'),
    });
    const asked = await own.handIn({ text: DOCUMENT, capo: 'capo_ops' });
    await own.until(asked.directiveId, 'failed');
    expect(await own.approval(asked.approvalId)).toMatchObject({ status: 'cancelled' });
  });
});

describe('a paused capo', () => {
  it('waits, and works when it is resumed', async () => {
    const { workspaceId, own } = await ownDesk();
    await pauseCapo(workspaceId, 'capo_ops');
    const { directiveId, approvalId } = await own.handIn({ text: DOCUMENT, capo: 'capo_ops' });
    const { body: free } = await own.client.post('/directives', {
      directive: DOCUMENT,
      capo: 'capo_ops',
      requiresApproval: false,
    });
    const other = await own.handIn({ text: DOCUMENT, capo: 'capo_product' });
    await own.ready(other.approvalId);
    await untilSwept(test);
    expect(await own.approval(approvalId)).toMatchObject({ ready: false });
    expect(await own.directive(directiveId)).toMatchObject({ startedAt: null, status: 'pending_approval' });
    expect(await own.directive(free.directiveId)).toMatchObject({ startedAt: null, status: 'queued' });

    await test.rows('delete from paused_capos where workspace_id = $1', [workspaceId]);
    await test.app.get(Db).transaction({ workspaceId, teamIds: 'all' }, async () => {
      const waiting = await test.app.get(Directives).lockOpenOf(workspaceId, 'capo_ops');
      expect(waiting.toSorted()).toEqual([directiveId, free.directiveId].toSorted());
      expect(await test.app.get(Work).unpark('directive.draft', waiting)).toBe(2);
    });
    await own.ready(approvalId);
    expectUnbroken(await own.until(free.directiveId, 'pending_approval'));
  });
});

describe('after a crash', () => {
  it('work that nobody was told of is found within seconds', async () => {
    const { workspaceId, own } = await ownDesk();
    await pauseCapo(workspaceId, 'capo_ops');
    const { directiveId, approvalId } = await own.handIn({ text: DOCUMENT, capo: 'capo_ops' });
    await eventually(
      () => test.rows(`select 1 from work_items where id = $1 and due_at = 'infinity'`, [directiveId]),
      (parked) => parked.length === 1,
    );
    await test.rows('delete from paused_capos where workspace_id = $1', [workspaceId]);
    await test.rows('update work_items set due_at = now() where id = $1', [directiveId]);
    const approval = await own.ready(approvalId);

    // Nothing is enqueued for an expiry until its time has come.
    const enqueued = `select kind from work_items where workspace_id = $1 and kind <> 'notification.plan'`;
    expect(await test.rows(enqueued, [workspaceId])).toEqual([]);
    await test.rows(`update approvals set expires_at = now() - interval '1 second' where approval_id = $1`, [
      approval.approvalId,
    ]);
    await own.until(directiveId, 'expired', 5);
  });

  it('a work packet left in sending by a dead process is sent again where that is safe: one file, one receipt', async () => {
    const { directiveId, approvalId } = await desk.handInReady();
    await desk.approve(approvalId);
    await desk.until(directiveId, 'executed');
    const [{ workPacketId }] = await desk.packets(directiveId);
    const file = join(test.dataDir, 'outbox', `${workPacketId}.eml`);
    const written = await stat(file);
    // The file is there, but the process ended before it could say so.
    await test.rows(`delete from outside_attempts where work_packet_id = $1 and event = 'ended'`, [
      workPacketId,
    ]);
    await test.rows(
      `update work_packets set status = 'sending', executed_at = null, result = null, receipt_id = null,
         sending_since = now() - interval '7 seconds' where work_packet_id = $1`,
      [workPacketId],
    );
    await test.rows(`update directives set status = 'sending', executed_at = null where directive_id = $1`, [
      directiveId,
    ]);
    await test.rows(
      `insert into work_items (kind, id, workspace_id, queue, due_at, claimed, attempt)
       values ('packet.send', $1, $2, $2, now() - interval '1 second', true, 1)`,
      [workPacketId, test.workspaceId],
    );
    await desk.until(directiveId, 'executed');
    expect((await desk.packets(directiveId))[0]).toMatchObject({ status: 'executed', attempts: 2 });
    expect((await stat(file)).mtimeMs).toBe(written.mtimeMs);
    const files = await readdir(join(test.dataDir, 'outbox'));
    expect(files.filter((name) => name.includes(workPacketId))).toEqual([`${workPacketId}.eml`]);
  });

  it('a process that comes too late to begin hands nothing out', async () => {
    const { workspaceId, own } = await ownDesk();
    const guardian = await test.database.owner.connect();
    await guardian.query('begin');
    await guardian.query('select from guardians where workspace_id = $1 for update', [workspaceId]);
    const [packet] = await queueWork(
      { rows: test.rows, workspaceId },
      { directives: 1, packetsEach: 1, types: ['email.send'] },
    );
    const { directiveId, workPacketId } = packet!;
    const item = (change: string) =>
      test.rows(`${change} where id = $1 and claimed returning 1`, [workPacketId]);
    // It has claimed the work and waits for the guardian; by the time it may begin, the work is another's.
    const told = test.logs.length;
    await eventually(
      () => item(`update work_items set attempt = attempt + 1, due_at = now() + interval '1 hour'`),
      (claimed) => claimed.length === 1,
    );
    await guardian.query('rollback');
    guardian.release();
    await eventually(async () =>
      test.logs.slice(told).some(({ msg }) => String(msg).includes('a late result was discarded')),
    );
    expect((await own.packets(directiveId))[0]).toMatchObject({ status: 'queued', attempts: 0 });
    expect(await readdir(join(test.dataDir, 'outbox'))).not.toContain(`${workPacketId}.eml`);

    await item('update work_items set due_at = now()');
    await own.until(directiveId, 'executed');
    expect((await own.packets(directiveId))[0]).toMatchObject({ attempts: 1 });
  });

  it('a mail that may have left is not sent again: it fails as unconfirmed, with a critical signal', async () => {
    const hang = Promise.withResolvers<undefined>();
    const mail = await startMailServer({ mail: () => hang.promise });
    const other = await startTestApp({ SMTP_URL: mail.url });
    try {
      const own = new Desk(other);
      const { directiveId, approvalId } = await own.handInReady();
      await own.approve(approvalId);
      await eventually(
        async () => mail.received.length,
        (count) => count === 1,
      );
      // Another process finds the row after the lease of the one that is gone.
      const claimed = await other.rows<{ crashes: number }>(
        `update work_items set attempt = attempt + 1, due_at = now() - interval '2 seconds'
         where kind = 'packet.send' and claimed returning crashes`,
      );
      expect(claimed).toEqual([{ crashes: 0 }]);
      const failed = await own.until(directiveId, 'failed');
      expectUnbroken(failed);
      const [packet] = await own.packets(directiveId);
      expect(packet).toMatchObject({
        status: 'failed',
        attempts: 1,
        result: { error: { code: 'UNCONFIRMED' } },
      });
      const signals = await other.rows(`select severity, title from signals where entity->>'id' = $1`, [
        packet.workPacketId,
      ]);
      expect(signals).toEqual([{ severity: 'critical', title: expect.stringContaining('Not carried out') }]);
      // The late answer of the first attempt tells that it arrived; nothing is sent again.
      hang.resolve(undefined);
      await own.until(directiveId, 'executed');
      await untilSwept(other);
      expect((await own.packets(directiveId))[0]).toMatchObject({ status: 'executed', attempts: 1 });
      expect(mail.received).toHaveLength(1);
      expect(await own.actions(directiveId)).toContain('packet.confirmed');
    } finally {
      await other.close();
      await mail.close();
    }
  });
});
