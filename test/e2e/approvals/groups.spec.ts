import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { groupKeyOf } from '../../../src/features/approvals/approval-group.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk } from '../directives/desk.js';

let test: TestApp;
let desk: Desk;
beforeAll(async () => {
  test = await startTestApp();
  desk = new Desk(test);
});
afterAll(() => test.close());

const to = (...addresses: string[]) => ({
  text: `Email ${addresses.join(' and ')}, subject "Delivery": The delivery arrives on Friday.`,
  capo: 'capo_ops',
});

describe('what can be decided together', () => {
  it('has one key, is listed by it, and is decided at once', async () => {
    const first = await desk.handInReady(to('jane@acme.example'));
    const second = await desk.handInReady(to('bob@ACME.example'));
    const other = await desk.handInReady(to('jane@globex.example'));
    const memo = await desk.handInReady({
      text: 'File this memo for the board: All is well.',
      capo: 'capo_ops',
    });
    const { groupKey } = first.approval;
    expect(groupKey).toBe(`capo_ops email.send acme.example ${first.approval.risk}`);

    const listed = await desk.client.get(`/approvals?group=${encodeURIComponent(groupKey)}`);

    expect(listed.status).toBe(200);
    const ids = listed.body.items.map(({ approvalId }: { approvalId: string }) => approvalId);
    expect(ids).toEqual([first.approvalId, second.approvalId]);
    expect(listed.body.total).toBe(2);
    expect(new Set([groupKey, other.approval.groupKey, memo.approval.groupKey]).size).toBe(3);
    const decisions = listed.body.items.map((item: { approvalId: string; contentHash: string }) => ({
      approvalId: item.approvalId,
      decision: 'approve',
      contentHash: item.contentHash,
    }));
    const decided = await desk.client.post('/approvals', { decisions });
    expect(decided.body.results).toEqual(
      ids.map((approvalId: string) => expect.objectContaining({ approvalId, status: 'approved' })),
    );
    expect((await desk.client.get(`/approvals?group=${encodeURIComponent(groupKey)}`)).body.items).toEqual(
      [],
    );
    const before = await desk.client.get(`/approvals?status=approved&group=${encodeURIComponent(groupKey)}`);
    expect(before.body.total).toBe(2);
  });

  it('goes together with the other filters and with pages', async () => {
    const made = [];
    for (let i = 0; i < 3; i++) made.push(await desk.handInReady(to('a@initech.example')));
    const group = encodeURIComponent(made[0]!.approval.groupKey);

    const first = await desk.client.get(`/approvals?group=${group}&limit=2`);
    const second = await desk.client.get(`/approvals?group=${group}&limit=2&cursor=${first.body.nextCursor}`);

    expect([first.body.items.length, second.body.items.length, second.body.nextCursor]).toEqual([2, 1, null]);
    expect((await desk.client.get(`/approvals?group=${group}&capo=capo_revenue`)).body.total).toBe(0);
    expect((await desk.client.get(`/approvals?group=${group}&urgent=true`)).body.total).toBe(
      made.filter(({ approval }) => approval.urgent).length,
    );
  });

  it('changes its key with an edit', async () => {
    const { approvalId, approval } = await desk.handInReady(to('jane@acme.example'));
    const [packet] = approval.packets;
    const params = { ...packet.action.params, to: ['jane@hooli.example'] };
    const edited = await desk.edit(
      approvalId,
      { packets: [{ workPacketId: packet.workPacketId, params }] },
      approval.contentHash,
    );
    expect(edited.body.groupKey).toContain(' email.send hooli.example ');
    expect((await desk.approval(approvalId)).groupKey).toBe(edited.body.groupKey);
  });

  it.each(['', 'x'.repeat(201)])('refuses the key %j', async (group) => {
    const answer = await desk.client.get(`/approvals?group=${group}`);
    expect([answer.status, answer.body.error.details[0].path]).toEqual([422, 'group']);
  });
});

describe('the key of a group', () => {
  const packet = (type: string, target: string | null) => ({ action: { type, target, params: {} } });
  it.each([
    ['no capo', { capo: null, packets: [packet('email.send', 'a@b.example')] }, null],
    ['nothing to do', { packets: [] }, null],
    [
      'a mail',
      { packets: [packet('email.send', 'a@B.example, c@b.example')] },
      'capo_ops email.send b.example low',
    ],
    [
      'two domains',
      { packets: [packet('email.send', 'a@z.example, c@b.example')] },
      'capo_ops email.send b.example+z.example low',
    ],
    ['a mail to nobody yet', { packets: [packet('email.send', null)] }, 'capo_ops email.send - low'],
    [
      'a document, whatever its title',
      { packets: [packet('document.file', 'Memo')] },
      'capo_ops document.file - low',
    ],
    [
      'a call',
      { packets: [packet('http.call', 'crm.create contact')] },
      'capo_ops http.call crm.create_contact low',
    ],
    [
      'several packets, in any order',
      { packets: [packet('signal.raise', 'policy'), packet('email.send', 'a@b.example')] },
      'capo_ops email.send+signal.raise b.example+policy low',
    ],
  ])('of %s', (_what, given, key) => {
    expect(groupKeyOf({ capo: 'capo_ops', risk: 'low', ...given } as Parameters<typeof groupKeyOf>[0])).toBe(
      key,
    );
  });

  it('is a hash of what would be too long', () => {
    const target = Array.from({ length: 100 }, (_, i) => `a@domain${i}.example`).join(', ');
    const key = groupKeyOf({ capo: 'capo_ops', risk: 'low', packets: [packet('email.send', target)] });
    expect(key).toMatch(/^capo_ops sha256:[0-9a-f]{64} low$/);
  });
});
