import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { reportIdOf } from '../../../src/features/verifier/daily-report.js';
import { leaveReport } from '../reports/report-rows.js';
import type { Client } from '../../support/client.js';
import { startTestApp, type TestApp, type TestMember, type TestWorkspace } from '../../support/test-app.js';

let test: TestApp;
let workspace: TestWorkspace;
let reportId: string;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());
beforeEach(async () => {
  workspace = await test.createWorkspace();
  reportId = await reportOf(workspace.owner);
});

async function reportOf(by: Client, query = ''): Promise<string> {
  return (await by.get(`/family/report${query}`)).body.reportId;
}

const comment = (by: Client, more: object = {}) =>
  by.post('/family/comment', { reportId, body: 'The carrier was late.', ...more });
const stored = async () =>
  (
    await test.rows<{ n: number }>('select count(*)::int as n from report_comments where workspace_id = $1', [
      workspace.workspaceId,
    ])
  )[0]!.n;

describe('POST /family/comment 201', () => {
  it('answers the comment, keeps it and leaves a receipt', async () => {
    const { memberId } = workspace.owner as TestMember;
    const answer = await comment(workspace.owner, {
      sectionKey: 'capo_ops',
      body: 'Late.\n\tCalled them. 👩‍🚀',
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      commentId: expect.stringMatching(/^cmt_/),
      reportId,
      teamId: null,
      sectionKey: 'capo_ops',
      body: 'Late.\n\tCalled them. 👩‍🚀',
      createdBy: expect.objectContaining({ type: 'member', id: memberId }),
      createdAt: expect.any(Number),
      receiptId: expect.stringMatching(/^rcp_/),
    });
    const [receipt] = await test.rows<{ body: string }>('select body from receipts where receipt_id = $1', [
      answer.body.receiptId,
    ]);
    expect(JSON.parse(receipt!.body)).toMatchObject({
      action: 'report.commented',
      entity: { type: 'report', id: reportId },
      details: { commentId: answer.body.commentId, sectionKey: 'capo_ops' },
    });
    expect((await workspace.owner.get(`/family/comment?reportId=${reportId}`)).body.items).toEqual([
      answer.body,
    ]);
  });

  it('is added once under one Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': newId('req') };
    const send = () => workspace.owner.post('/family/comment', { reportId, body: 'Late.' }, headers);
    const [one, two] = await Promise.all([send(), send()]);
    expect(one.text).toBe(two.text);
    expect(await stored()).toBe(1);
  });
});

describe('who may', () => {
  it('comments as an operator of the team, reads as anybody who may read the report', async () => {
    const { workspaceId, owner } = workspace;
    const [one, two] = [await test.createTeam(workspaceId, 'One'), await test.createTeam(workspaceId, 'Two')];
    const member = (role: 'viewer' | 'operator', teams: string[]) =>
      test.createMember(workspaceId, role, teams);
    const inOne = await member('operator', [one]);
    const ofOne = await reportOf(inOne);
    expect(ofOne).toBe(await reportOf(owner, `?teamId=${one}`));
    const added = await comment(inOne, { reportId: ofOne });
    expect(added).toMatchObject({ status: 201, body: { teamId: one } });
    expect((await comment(owner, { reportId: ofOne })).status).toBe(201);

    const watching = await member('viewer', [one]);
    expect((await comment(watching, { reportId: ofOne })).status).toBe(403);
    expect((await watching.get(`/family/comment?reportId=${ofOne}`)).body.total).toBe(2);
    expect((await watching.get('/family/comment')).body.total).toBe(2);

    const operator = await member('operator', [one]);
    await test.rows(`update team_members set role = 'viewer' where member_id = $1`, [operator.memberId]);
    expect((await comment(operator, { reportId: ofOne })).status).toBe(403);

    const inTwo = await member('operator', [two]);
    expect((await comment(inTwo, { reportId: ofOne })).status).toBe(404);
    expect((await inTwo.get(`/family/comment?reportId=${ofOne}`)).status).toBe(404);
    expect((await inTwo.get('/family/comment')).body.items).toEqual([]);
    expect(await stored()).toBe(2);
  });

  it('shows comments on the whole workspace to those who see all of it', async () => {
    await comment(workspace.owner, { body: 'Zanzibar' });
    const inNone = await test.createMember(workspace.workspaceId, 'operator');
    expect((await inNone.get(`/family/comment?reportId=${reportId}`)).status).toBe(404);
    expect((await inNone.get('/family/comment')).body.items).toEqual([]);
    const own = await reportOf(inNone);
    expect((await comment(inNone, { reportId: own })).status).toBe(201);
    expect((await inNone.get('/family/comment')).body.total).toBe(1);
    const admin = await test.createMember(workspace.workspaceId, 'admin');
    expect((await admin.get('/family/comment')).body.total).toBe(2);
    expect((await admin.get(`/family/comment?reportId=${own}`)).body.total).toBe(1);
  });
});

describe('about a Daily Report', () => {
  it('comments as whoever may read it, and to others it is not there', async () => {
    const { workspaceId, owner } = workspace;
    const daily = await leaveReport(test.rows, workspaceId);
    const inNone = await test.createMember(workspaceId, 'operator');
    const added = await comment(inNone, { reportId: daily, sectionKey: 'revenue' });
    expect(added).toMatchObject({
      status: 201,
      body: { reportId: daily, teamId: null, sectionKey: 'revenue' },
    });
    expect((await owner.get(`/family/comment?reportId=${daily}`)).body.total).toBe(1);
    // Beside what is said of the family report of all, which is an admin's.
    expect((await comment(owner)).status).toBe(201);
    const all = (await inNone.get('/family/comment')).body;
    expect([all.total, all.items]).toEqual([1, [added.body]]);
    expect((await owner.get('/family/comment')).body.total).toBe(2);
    expect((await comment((await test.createWorkspace()).owner, { reportId: daily })).status).toBe(404);

    // From the first team on it tells what others do.
    const teamId = await test.createTeam(workspaceId, 'One');
    for (const member of [inNone, await test.createMember(workspaceId, 'operator', [teamId])]) {
      expect((await comment(member, { reportId: daily })).status).toBe(404);
      expect((await member.get(`/family/comment?reportId=${daily}`)).status).toBe(404);
      expect((await member.get('/family/comment')).body.items).toEqual([]);
    }
    expect((await comment(owner, { reportId: daily })).status).toBe(201);
  });
});

describe('about the Daily Report of today, which is not made yet', () => {
  it('comments as whoever reads it, and finds the comment again', async () => {
    const { workspaceId, owner } = workspace;
    const today = new Date(test.clock.now()).toISOString().slice(0, 10);
    const { reportId: partial, partial: isPartial } = (await owner.get(`/reports/daily?date=${today}`)).body;
    expect(isPartial).toBe(true);
    const operator = await test.createMember(workspaceId, 'operator');
    expect((await comment(operator, { reportId: partial })).status).toBe(201);
    expect((await comment(owner)).status).toBe(201);
    for (const query of ['', `?reportId=${partial}`])
      expect((await operator.get(`/family/comment${query}`)).body).toMatchObject({
        total: 1,
        items: [{ reportId: partial }],
      });

    const tomorrow = reportIdOf(
      workspaceId,
      new Date(test.clock.now() + 86_400_000).toISOString().slice(0, 10),
    );
    const before = reportIdOf(workspaceId, '2001-01-01');
    for (const none of [tomorrow, before])
      expect((await comment(owner, { reportId: none })).status, none).toBe(404);
    await test.createTeam(workspaceId, 'One');
    expect((await comment(operator, { reportId: partial })).status).toBe(404);
  });
});

describe('POST /family/comment 404', () => {
  it('does not know a report of another workspace, of no day, or made up', async () => {
    const other = await test.createWorkspace();
    const foreign = await reportOf(other.owner);
    const flipped = `${reportId.slice(0, -1)}${reportId.endsWith('0') ? '1' : '0'}`;
    for (const id of [
      foreign,
      flipped,
      `rpt_${'0'.repeat(26)}`,
      `rpt_7${'z'.repeat(25)}`,
      newId('req').replace('req', 'rpt'),
    ]) {
      expect((await comment(workspace.owner, { reportId: id })).status, id).toBe(404);
      expect((await workspace.owner.get(`/family/comment?reportId=${id}`)).status, id).toBe(404);
    }
    expect(await stored()).toBe(0);
  });
});

describe('POST /family/comment 422', () => {
  it.each([
    ['no report', { reportId: undefined }],
    ['what is no id', { reportId: 'rpt_1' }],
    ['an id of something else', { reportId: newId('dir') }],
    ['an unknown section', { sectionKey: 'weather' }],
    ['no words', { body: '  \n' }],
    ['too many', { body: 'x'.repeat(4_001) }],
    ['control characters', { body: 'a\u001bb' }],
    ['an unknown property', { by: 'me' }],
  ])('refuses %s', async (_what, more) => {
    expect((await comment(workspace.owner, more)).status).toBe(422);
    expect(await stored()).toBe(0);
  });
});

describe('GET /family/comment', () => {
  it('goes through them page by page, newest first', async () => {
    for (let n = 0; n < 5; n++) await comment(workspace.owner, { body: `Comment ${n}` });
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await workspace.owner.get(`/family/comment?reportId=${reportId}&limit=2${query}`);
      seen.push(...body.items.map((item: { body: string }) => item.body));
      cursor = body.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual(['Comment 4', 'Comment 3', 'Comment 2', 'Comment 1', 'Comment 0']);
  });
});
