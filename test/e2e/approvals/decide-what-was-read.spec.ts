import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk } from '../directives/desk.js';

let test: TestApp;
let desk: Desk;
beforeAll(async () => {
  test = await startTestApp({ PROCESS_ROLE: 'all' });
  desk = new Desk(test);
});
afterAll(() => test.close());

const MAIL = { to: ['joe@acme.example'], subject: 'Order 17', body: 'It ships on Thursday.' };

/** An approval that `by` has edited, and the content hash of what was read before. */
async function edited(by = desk) {
  const { directiveId, approvalId, approval } = await desk.handInReady();
  const [{ workPacketId }] = approval.packets;
  const edit = { packets: [{ workPacketId, params: MAIL }] };
  const answer = await by.edit(approvalId, edit, approval.contentHash);
  expect(answer.status, answer.text).toBe(200);
  const [read, now] = [approval.contentHash as string, answer.body.contentHash as string];
  return { directiveId, approvalId, read, now };
}

const CHANGED = { error: { code: 'CONTENT_CHANGED', status: 412 } };

describe('POST /approvals with what was read', () => {
  it('decides one only if it is still that', async () => {
    const { approvalId, read, now } = await edited();
    const decision = { approvalId, decision: 'approve' };
    for (const answer of [
      await desk.client.post('/approvals', decision, { 'If-Match': `"${read}"` }),
      await desk.client.post('/approvals', { ...decision, contentHash: read }),
    ]) {
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body.results).toMatchObject([{ approvalId, ...CHANGED }]);
    }
    expect((await desk.approval(approvalId)).status).toBe('pending');
    const { body } = await desk.client.post('/approvals', { ...decision, contentHash: now });
    expect(body.results).toMatchObject([{ approvalId, status: 'approved' }]);
  });

  it('refuses a hash in the body where the header names another', async () => {
    const { approvalId, read, now } = await edited();
    for (const [ifMatch, contentHash] of [
      [read, now],
      [now, read],
    ] as const) {
      const body = { approvalId, decision: 'approve', contentHash };
      const answer = await desk.client.post('/approvals', body, { 'If-Match': `"${ifMatch}"` });
      expect([answer.status, answer.body.error?.code], answer.text).toEqual([412, 'CONTENT_CHANGED']);
    }
    expect((await desk.approval(approvalId)).status).toBe('pending');
    const both = { approvalId, decision: 'approve', contentHash: now };
    const { body } = await desk.client.post('/approvals', both, { 'If-Match': `"${now}"` });
    expect(body.results).toMatchObject([{ approvalId, status: 'approved' }]);
  });

  it('decides of many each by its own hash', async () => {
    const [stale, current] = [await edited(), await edited()];
    const { body } = await desk.client.post('/approvals', {
      decisions: [
        { approvalId: stale.approvalId, decision: 'approve', contentHash: stale.read },
        { approvalId: current.approvalId, decision: 'approve', contentHash: current.now },
      ],
    });
    expect(body.results).toMatchObject([
      { approvalId: stale.approvalId, ...CHANGED },
      { approvalId: current.approvalId, status: 'approved' },
    ]);
  });

  it('refuses one header for a list, and what is no decision', async () => {
    const { approvalId, now } = await edited();
    const decisions = [{ approvalId, decision: 'approve' }];
    for (const answer of [
      await desk.client.post('/approvals', { decisions }, { 'If-Match': now }),
      await desk.client.post('/approvals', { decisions: [[]] }),
      await desk.client.post('/approvals', { decisions: [null] }),
      await desk.client.post('/approvals', { approvalId, decision: 'approve', contentHash: 'x' }),
    ]) {
      expect(answer.status, answer.text).toBe(422);
    }
    expect((await desk.approval(approvalId)).status).toBe('pending');
  });

  it.each([[[[]]], [[[[]]]], [[null]], [['x']]])(
    'PATCH refuses %j as work packets to add or to edit',
    async (list) => {
      const { approvalId, now } = await edited();
      for (const body of [{ add: list }, { packets: list }]) {
        const answer = await desk.client.send('PATCH', `/approvals/${approvalId}`, body, { 'If-Match': now });
        expect(answer.status, answer.text).toBe(422);
      }
    },
  );
});

describe('GET /approvals/contents', () => {
  const contents = (ids: readonly string[], client = desk.client) =>
    client.get(`/approvals/contents?ids=${ids.join(',')}`);

  it('answers what the single record says, with who edited and not what', async () => {
    const [one, other] = [await edited(), await desk.handInReady()];
    const { status, body, text } = await contents([one.approvalId, other.approvalId]);
    expect(status, text).toBe(200);
    for (const { approvalId } of [one, other]) {
      const { sources: _s, mayApprove: _m, refusal: _r, ...single } = await desk.approval(approvalId);
      const revisions = single.revisions.map((each: object) => ({ ...each, changes: [] }));
      expect(body.items.find((each: any) => each.approvalId === approvalId)).toEqual({
        ...single,
        revisions,
      });
    }
    expect(body.items.find((each: any) => each.approvalId === one.approvalId).contentHash).toBe(one.now);
  });

  it('leaves out what the caller may not see, and what does not fit into one answer', async () => {
    const stranger = new Desk(test, (await test.createWorkspace()).owner.token);
    const made = [await desk.handInReady(), await desk.handInReady()];
    const ids = made.map(({ approvalId }) => approvalId).toSorted();
    expect((await contents(ids, stranger.client)).body).toEqual({ items: [] });
    await test.rows(
      `update approvals set output = jsonb_set(output, '{body}', to_jsonb(repeat('long ', 800001))) where approval_id = any($1)`,
      [ids],
    );
    const { body } = await contents(ids);
    expect(body.items.map(({ approvalId }: any) => approvalId)).toEqual([ids[0]]);
    expect((await contents(['apr_x', ...ids])).status).toBe(422);
    expect((await desk.client.get('/approvals/contents')).status).toBe(422);
  });
});

describe('approving without the content hash what another member has edited', () => {
  let operator: Desk;
  beforeAll(async () => {
    operator = new Desk(test, (await test.createMember(test.workspaceId, 'operator')).token);
  });

  it.each([{}, { 'If-Match': '*' }])('is 428 with the current hash (%j), and nothing leaves', async (tag) => {
    const { directiveId, approvalId, now } = await edited(operator);
    const refused = await desk.approve(approvalId, tag as Record<string, string>);
    expect(refused.status, refused.text).toBe(428);
    expect(refused.body.error).toMatchObject({
      code: 'PRECONDITION_REQUIRED',
      details: { contentHash: now },
    });
    expect((await desk.approval(approvalId)).status).toBe('pending');
    expect(await desk.actions(directiveId)).not.toContain('approval.approved');
    expect((await desk.approve(approvalId, { 'If-Match': `"${now}"` })).status).toBe(200);
  });

  it('is refused for one decision and for each of many, with the hash of each', async () => {
    const [one, other, unedited] = [await edited(operator), await edited(operator), await desk.handInReady()];
    const single = { approvalId: one.approvalId, decision: 'approve' };
    const alone = await desk.client.post('/approvals', single, { 'If-Match': '*' });
    const required = (now: string) => ({
      error: { code: 'PRECONDITION_REQUIRED', status: 428, details: { contentHash: now } },
    });
    expect(alone.body.results).toMatchObject([required(one.now)]);
    const { body } = await desk.client.post('/approvals', {
      decisions: [
        single,
        { approvalId: other.approvalId, decision: 'approve', contentHash: other.read },
        { approvalId: unedited.approvalId, decision: 'approve' },
      ],
    });
    expect(body.results).toMatchObject([
      required(one.now),
      { error: { code: 'CONTENT_CHANGED', status: 412, details: { contentHash: other.now } } },
      { status: 'approved' },
    ]);
    const hashed = [one, other].map(({ approvalId, now }) => ({
      ...{ approvalId, decision: 'approve', contentHash: now },
    }));
    const decided = await desk.client.post('/approvals', { decisions: hashed });
    expect(decided.body.results).toMatchObject([{ status: 'approved' }, { status: 'approved' }]);
  });

  it('needs no hash for the member whose edit was the last, and none to reject', async () => {
    const own = await edited();
    expect((await desk.approve(own.approvalId)).status).toBe(200);
    const others = await edited(operator);
    expect((await desk.reject(others.approvalId)).status).toBe(200);
  });

  it('rejects by a named hash that content alone, one or many, to end it or to have it drafted again', async () => {
    const { approvalId, read, now } = await edited(operator);
    const path = `/approvals/${approvalId}/reject`;
    const feedback = 'Not this one.';
    for (const revise of [false, true]) {
      const refused = await desk.client.post(path, { feedback, revise }, { 'If-Match': `"${read}"` });
      expect(refused.body.error).toMatchObject({ code: 'CONTENT_CHANGED', details: { contentHash: now } });
    }
    const rejection = { approvalId, decision: 'reject', feedback };
    const { body } = await desk.client.post('/approvals', {
      decisions: [{ ...rejection, contentHash: read }],
    });
    expect(body.results).toMatchObject([{ error: { code: 'CONTENT_CHANGED' } }]);
    expect(await desk.approval(approvalId)).toMatchObject({ status: 'pending', contentHash: now });
    expect((await desk.client.post(path, { feedback }, { 'If-Match': now })).body.status).toBe('rejected');
  });

  it('needs one again where another member edited after them', async () => {
    const { approvalId, now } = await edited();
    const packets = (await desk.approval(approvalId)).packets as { workPacketId: string }[];
    const edit = {
      packets: [{ workPacketId: packets[0]!.workPacketId, params: { ...MAIL, to: ['eve@evil.example'] } }],
    };
    const last = await operator.edit(approvalId, edit, now);
    const refused = await desk.approve(approvalId);
    expect(refused.status).toBe(428);
    expect(refused.body.error.details).toEqual({ contentHash: last.body.contentHash });
  });

  it('needs one where two members have seen the token, of the edit or of the decision', async () => {
    const { token, memberId } = await test.createMember(test.workspaceId, 'operator');
    const member = new Desk(test, token);
    const made = await desk.client.post('/tokens', { name: 'made for them', memberId });
    const shared = new Desk(test, made.body.token);
    expect((await member.approve((await edited(shared)).approvalId)).status).toBe(428);
    expect((await shared.approve((await edited(member)).approvalId)).status).toBe(428);
    expect((await member.approve((await edited(member)).approvalId)).status).toBe(200);
  });

  it('needs none for the draft that was asked for anew after an edit', async () => {
    const { approvalId } = await edited(operator);
    const sent = await desk.reject(approvalId, { feedback: 'Write Monday.', revise: true });
    await desk.ready(sent.body.nextApprovalId);
    const answer = await desk.approve(sent.body.nextApprovalId);
    expect([200, 409], answer.text).toContain(answer.status);
    if (answer.status === 409) expect(answer.body.error.code).toBe('INPUT_REQUIRED');
  });

  it.each([
    ['a weak tag', (hash: string) => `W/"${hash}"`],
    ['a list of tags', (hash: string) => `"${hash}", "${'0'.repeat(64)}"`],
    ['an empty tag', () => '""'],
  ])('takes %s for no hash that was read (412)', async (_case, tagOf) => {
    const { approvalId, now } = await edited(operator);
    const refused = await desk.approve(approvalId, { 'If-Match': tagOf(now) });
    expect(refused.status).toBe(412);
    expect(refused.body.error.details).toEqual({ contentHash: now });
  });

  it('is not the stored outcome of a key: 412 and 428 are decided anew, and If-Match is part of the request', async () => {
    const { approvalId, read, now } = await edited(operator);
    const key = { 'Idempotency-Key': 'approve-once' };
    const send = (tag: Record<string, string>) => desk.approve(approvalId, { ...key, ...tag });
    expect((await send({})).status).toBe(428);
    expect((await send({ 'If-Match': read })).status).toBe(412);
    const approved = await send({ 'If-Match': now });
    expect(approved.status).toBe(200);
    const again = await send({ 'If-Match': `"${now}"` });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(approved.body);
    for (const other of [{}, { 'If-Match': '*' }, { 'If-Match': read }] as Record<string, string>[]) {
      expect((await send(other)).body.error.code).toBe('IDEMPOTENCY_KEY_REUSED');
    }
  });
});

describe('the kill switch under a key that was used before', () => {
  it('is engaged again: an answer from before is not what is so now', async () => {
    const { owner } = await test.createWorkspace();
    const other = new Desk(test, owner.token);
    const key = { 'Idempotency-Key': 'stop' };
    expect((await other.client.post('/guardian/kill-switch', {}, key)).body).toMatchObject({ changed: true });
    await other.revert();
    expect((await other.client.post('/guardian/kill-switch', {}, key)).body).toMatchObject({ changed: true });
    expect((await other.client.get('/guardian')).body.mode).toBe('killed');
  });
});
