import { afterAll, beforeAll, expect, it } from 'vitest';
import { MAIL } from '../directives/desk.js';
import { LinkReader, type MailedMember, NotificationDesk, wordsOfHtml } from './notification-desk.js';

let desk: NotificationDesk;
let workspaceId: string;
let owner: MailedMember;
let asker: MailedMember;
let ann: MailedMember;
let bob: MailedMember;
let other: MailedMember;
beforeAll(async () => {
  desk = await NotificationDesk.open();
  ({ workspaceId, owner } = await desk.workspace());
  [asker, ann, bob, other] = [
    await desk.member(workspaceId, 'operator'),
    await desk.member(workspaceId, 'operator'),
    await desk.member(workspaceId, 'operator'),
    await desk.member(workspaceId, 'operator'),
  ];
  const made = await owner.post('/standing-orders', {
    name: 'Ann and Bob',
    effect: 'require_approval',
    match: {},
    approval: { quorum: 2, approvers: { memberIds: [ann.memberId, bob.memberId] } },
  });
  expect(made.status, made.text).toBe(201);
});
afterAll(() => desk.close());

const countsOf = () =>
  Promise.all([owner, asker, ann, bob, other].map(async ({ email }) => (await desk.mails(email)).length));

it('mails the named approvers alone, takes a vote by link, and mails whoever has voted again only after an edit', async () => {
  const browser = new LinkReader();
  const { approvalId, approval } = await desk.desk(asker).handInReady({ text: MAIL });
  const [mail] = await desk.mailed(ann.email);
  await desk.mailed(bob.email);
  await desk.quiet();
  expect(await countsOf()).toEqual([0, 0, 1, 1, 0]);
  expect(mail!.text).toMatch(/Approvals\W+0 of 2/);

  const voted = await browser.post(mail!.links[0]!, { decision: 'approve' });
  expect([voted.status, wordsOfHtml(voted.text)]).toEqual([
    200,
    expect.stringMatching(/You approved it.*More people have to approve it.*1 of 2/s),
  ]);
  const used = await browser.post(mail!.links[0]!, { decision: 'approve' });
  expect([used.status, wordsOfHtml(used.text)]).toEqual([410, expect.stringContaining('works once')]);

  // The time runs out: who has voted can do no more about it.
  await desk.escalate(workspaceId, {
    kind: 'approval_expiring',
    entity: { type: 'approval', id: approvalId },
    options: ['extend', 'reject', 'dismiss'],
  });
  await desk.mailed(bob.email, 2);
  await desk.quiet();
  expect(await countsOf()).toEqual([0, 0, 1, 2, 0]);

  const [{ workPacketId, action }] = approval.packets;
  const packets = [{ workPacketId, params: { ...action.params, subject: 'Thursday' } }];
  const edited = await desk.desk(other).edit(approvalId, { packets }, approval.contentHash);
  expect(edited.status, edited.text).toBe(200);
  const [, anew] = await desk.mailed(ann.email, 2);
  await desk.mailed(bob.email, 3);
  for (const link of [anew!.links[0]!, (await desk.mails(bob.email))[2]!.links[0]!]) {
    expect((await browser.post(link, { decision: 'approve' })).status).toBe(200);
  }
  expect((await desk.desk(owner).approval(approvalId)).status).toBe('approved');
});

it('shows on the page of a link who may not approve, and that somebody has', async () => {
  const browser = new LinkReader();
  const before = (await desk.mails(ann.email)).length;
  const { approvalId } = await desk.desk(asker).handInReady({ text: MAIL });
  const link = (await desk.mailed(ann.email, before + 1)).at(-1)!.links[0]!;
  expect((await desk.desk(ann).approve(approvalId)).body.status).toBe('pending');
  const page = await browser.get(link);
  expect(wordsOfHtml(page.text)).toContain('You have approved it. It has 1 of 2 approvals.');
  expect(page.text).not.toContain('value="approve"');
  expect(page.text).toContain('value="reject"');
});

it('mails admins when too few people are left, also who has asked', async () => {
  const ready = await desk.desk(owner).handInReady({ text: MAIL });
  await desk.quiet();
  const before = await countsOf();
  expect((await owner.delete(`/members/${bob.memberId}`)).status).toBeLessThan(300);
  // One of the two that wait has Ann's approval already.
  const mails = await desk.mailed(owner.email, before[0]! + 2);
  await desk.quiet();
  expect(mails.map(({ text }) => text)).toEqual(
    expect.arrayContaining([
      expect.stringContaining('only 1 of those whom the standing order "Ann and Bob" names can'),
      expect.stringContaining('nobody of those whom the standing order "Ann and Bob" names can'),
    ]),
  );
  expect((await countsOf())[2]).toBe(before[2]);
  expect((await desk.desk(owner).approval(ready.approvalId)).waitingFor.reason).toBe('approvers');
});
