import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { LoopbackModel, providerError } from '../../support/loopback-model.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk, expectUnbroken } from './desk.js';

const content = JSON.stringify({
  summary: 'A memo is ready.',
  packets: [
    {
      title: 'Memo',
      type: 'document.file',
      target: 'Memo',
      params: { title: 'Memo on delays', body: 'Two deliveries are late.' },
      rationale: 'The directive asks for it.',
      multipliers: [],
    },
  ],
});

let model: LoopbackModel;
let test: TestApp;
let desk: Desk;
let workspaceId: string;

beforeAll(async () => {
  model = await LoopbackModel.start();
  test = await startTestApp({
    MODEL_PROVIDER: 'openai-compatible',
    MODEL_BASE_URL: model.url,
    MODEL_NAME: 'test-model',
  });
});
afterAll(async () => {
  await test.close();
  await model.stop();
});
beforeEach(async () => {
  model.requests.length = 0;
  model.reply = () => ({ content });
  const workspace = await test.createWorkspace();
  ({ workspaceId } = workspace);
  desk = new Desk(test, workspace.owner.token);
});

const retry = (directiveId: string, headers: Record<string, string> = {}) =>
  desk.client.post(`/directives/${directiveId}/retry`, undefined, headers);

/** A directive whose draft the provider refused. */
async function failed(body: object = { text: 'Write a memo on the delays.', capo: 'capo_ops' }) {
  model.reply = () => providerError(401, 'Unknown key.');
  const handedIn = await desk.handIn(body);
  await desk.until(handedIn.directiveId, 'failed');
  model.reply = () => ({ content });
  return handedIn;
}

describe('200', () => {
  it('ends as the new draft does, whatever denied the one before', async () => {
    const deny = { name: 'No documents', effect: 'deny', match: { actionTypes: ['document.file'] } };
    const { standingOrderId } = (await desk.client.post('/standing-orders', deny)).body;
    expect((await desk.client.post(`/standing-orders/${standingOrderId}/activate`, {})).status).toBe(200);
    const { directiveId } = await desk.handIn({ text: 'Write a memo on the delays.', capo: 'capo_ops' });
    await desk.until(directiveId, 'failed');
    await desk.client.delete(`/standing-orders/${standingOrderId}`);
    const { approvalId } = (await retry(directiveId)).body;
    await desk.ready(approvalId);
    expect((await desk.approve(approvalId)).status).toBe(200);
    expectUnbroken(await desk.until(directiveId, 'executed'));
    const statuses = (await desk.packets(directiveId)).map(({ status }: { status: string }) => status);
    expect(statuses.toSorted()).toEqual(['cancelled', 'executed']);
  });

  it('has another draft made, at an approval of its own', async () => {
    const { directiveId, approvalId } = await failed();
    const { status, body } = await retry(directiveId);
    expect(status).toBe(200);
    expect(body).toMatchObject({ directiveId, status: 'pending_approval', error: null });
    expect(body.drafting).toEqual({ attempts: 0, nextAttemptAt: expect.any(Number), lastError: null });
    expect(body.approvalId).not.toBe(approvalId);

    const approval = await desk.ready(body.approvalId);
    expect((await desk.approve(body.approvalId, { 'If-Match': approval.contentHash })).status).toBe(200);
    const done = await desk.until(directiveId, 'executed');
    expectUnbroken(done);
    expect(await desk.approval(approvalId)).toMatchObject({ status: 'cancelled' });
    expect(await desk.actions(directiveId)).toEqual([
      'directive.created',
      'approval.requested',
      'directive.started',
      'approval.cancelled',
      'directive.failed',
      'directive.retried',
      'approval.requested',
      'directive.started',
      'directive.drafted',
      'approval.ready',
      'approval.approved',
      'directive.sending',
      'document.filed',
      'packet.executed',
      'directive.executed',
    ]);
  });

  it('has another draft made of one that needs no approval', async () => {
    model.reply = () => providerError(401, 'Unknown key.');
    const { body } = await desk.client.post('/directives', {
      directive: 'Write a memo on the delays.',
      capo: 'capo_ops',
      requiresApproval: false,
    });
    await desk.until(body.directiveId, 'failed');
    model.reply = () => ({ content });
    expect((await retry(body.directiveId)).body).toMatchObject({ status: 'queued', approvalId: null });
    expectUnbroken(await desk.until(body.directiveId, 'pending_approval'));
  });

  it('is done once for one idempotency key, and once for two people at the same moment', async () => {
    const { directiveId } = await failed();
    const key = { 'Idempotency-Key': newId('req') };
    const [first, again] = [await retry(directiveId, key), await retry(directiveId, key)];
    expect(again.body).toEqual(first.body);
    await desk.ready(first.body.approvalId);

    const other = await failed();
    const both = await Promise.all([retry(other.directiveId), retry(other.directiveId)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const open = await test.rows(
      `select approval_id from approvals where directive_id = $1 and status = 'pending'`,
      [other.directiveId],
    );
    expect(open).toHaveLength(1);
    await desk.ready(String(open[0]!['approval_id']));
  });

  it('waits for the revert while the kill switch is engaged', async () => {
    const { directiveId } = await failed();
    await desk.kill();
    const { body } = await retry(directiveId);
    const { approvalId } = body;
    await eventually(
      () => desk.approval(approvalId),
      ({ drafting }) => drafting.nextAttemptAt === null && drafting.attempts === 0,
    );
    expect(model.requests).toHaveLength(1);
    await desk.revert();
    await desk.ready(approvalId);
  });
});

describe('403', () => {
  it('is for a viewer', async () => {
    const { directiveId } = await failed();
    const viewer = await test.createMember(workspaceId, 'viewer');
    const answer = await new Client(test.url, viewer.token).post(`/directives/${directiveId}/retry`);
    expect(answer.status).toBe(403);
  });
});

describe('404', () => {
  it('is for one that does not exist, and for one of another workspace', async () => {
    expect((await retry(newId('dir'))).status).toBe(404);
    const { directiveId } = await failed();
    const { owner } = await test.createWorkspace();
    expect((await owner.post(`/directives/${directiveId}/retry`)).status).toBe(404);
  });
});

describe('409', () => {
  const refused = async (directiveId: string, status: string) => {
    const answer = await retry(directiveId);
    expect(answer.status).toBe(409);
    expect(answer.body.error).toMatchObject({ code: 'INVALID_TRANSITION', details: { status } });
    return answer.body.error.message as string;
  };

  it('is for one that has not failed', async () => {
    const { directiveId } = await desk.handInReady({ text: 'Write a memo.', capo: 'capo_ops' });
    expect(await refused(directiveId, 'pending_approval')).toBe(
      'Only a directive that failed can be retried.',
    );
  });

  it('is for one of which a part may have been sent', async () => {
    await test.rows(`create function refuse_late() returns trigger language plpgsql as $$
      begin if new.body like '%are late%' then raise exception 'refused'; end if; return new; end $$`);
    await test.rows(
      'create trigger late before insert on documents for each row execute function refuse_late()',
    );
    const { summary, packets } = JSON.parse(content);
    const filed = { ...packets[0], params: { title: 'Memo on costs', body: 'They are the same.' } };
    model.reply = () => ({ content: JSON.stringify({ summary, packets: [filed, ...packets] }) });
    const { directiveId, approvalId, approval } = await desk.handInReady({
      text: 'A memo.',
      capo: 'capo_ops',
    });
    expect((await desk.approve(approvalId)).status).toBe(200);
    await eventually(
      async () => {
        await test.rows('update work_items set due_at = now() where id = $1 and not claimed', [
          approval.packets[1].workPacketId,
        ]);
        return desk.directive(directiveId);
      },
      ({ status }) => status === 'failed',
      20,
    );
    await test.rows('drop trigger late on documents');
    expect(await refused(directiveId, 'failed')).toBe(
      'A part of this directive was sent or may have been, so it cannot be drafted again. Hand in a new directive for what is still wanted.',
    );
  });

  it('is for one whose deadline has passed', async () => {
    const { directiveId } = await failed();
    await test.rows(`update directives set deadline = now() - interval '1 minute' where directive_id = $1`, [
      directiveId,
    ]);
    expect(await refused(directiveId, 'failed')).toContain('The deadline of this directive has passed.');
  });

  it('is for one of a team that has been archived since, and nothing begins there', async () => {
    const teamId = await test.createTeam(workspaceId, 'Over');
    const { directiveId } = await failed({ text: 'A memo.', capo: 'capo_ops', teamId });
    expect((await desk.client.post(`/teams/${teamId}/archive`, {})).status).toBe(200);
    const before = await desk.directive(directiveId);
    expect(await refused(directiveId, 'failed')).toBe(
      'The team of this directive has been archived. Hand in a new directive for what is still wanted.',
    );
    expect(await desk.directive(directiveId)).toEqual(before);
  });

  it('the signal about a directive that failed for good names the way to have it drafted again', async () => {
    const { directiveId } = await failed();
    const [signal] = await test.rows<{ body: string }>(
      `select body from signals where entity->>'id' = $1 and title like 'No draft:%'`,
      [directiveId],
    );
    expect(signal!.body).toContain(`POST /directives/${directiveId}/retry`);
  });
});
