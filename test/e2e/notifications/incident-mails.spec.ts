import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/test-app.js';
import { type MailedMember, NotificationDesk, wordsIn, wordsOfHtml } from './notification-desk.js';

const LOSS = 'Pay out revenue of 900 EUR';

let desk: NotificationDesk;
let workspaceId: string;
let owner: MailedMember;
beforeAll(async () => {
  desk = await NotificationDesk.open();
});
beforeEach(async () => {
  desk.test.clock.goOn();
  ({ workspaceId, owner } = await desk.workspace());
});
afterAll(() => desk.close());

const subjects = async ({ email }: MailedMember) => (await desk.mails(email)).map(({ subject }) => subject);

describe('a directive that ends before anything of it was sent', () => {
  it('is told to the member who handed it in, with the reason and the way to try again', async () => {
    const operator = await desk.member(workspaceId, 'operator');
    const { directiveId, approvalId } = await desk
      .desk(operator)
      .handIn({ text: LOSS, capo: 'capo_revenue' });

    const [mail] = await desk.mailed(operator.email);
    await desk.quiet();

    expect(mail!.subject).toBe(`Failed: ${LOSS}`);
    expect(mail!.text).toContain('Nothing was prepared:');
    expect(mail!.text).toContain('Nothing of it was sent.');
    expect(mail!.text).toContain('hand it in again in other words');
    expect(mail!.text).toContain(directiveId);
    expect(wordsIn(wordsOfHtml(mail!.html!))).toEqual(wordsIn(mail!.text!));
    expect(await desk.mails(operator.email)).toHaveLength(1);
    expect(await desk.mails(owner.email)).toEqual([]);
    const approval = await desk.desk(operator).approval(approvalId);
    expect(approval.status).toBe('cancelled');
    expect(approval.feedback).toContain('hand it in again in other words');
  });

  it('is not told to a member who chose no mails about escalations', async () => {
    await owner.put('/profile/notifications', { escalations: 'none' });
    const { directiveId } = await desk.desk(owner).handIn({ text: LOSS, capo: 'capo_revenue' });
    await desk.desk(owner).until(directiveId, 'failed');
    await desk.quiet();
    expect(await desk.mails(owner.email)).toEqual([]);
  });
});

describe('a kill and its end', () => {
  it('are mailed once to each owner and admin, whatever they chose and whoever did it', async () => {
    const admin = await desk.member(workspaceId, 'admin');
    const operator = await desk.member(workspaceId, 'operator');
    const none = { approvals: 'none', escalations: 'none', reports: 'none' };
    await admin.put('/profile/notifications', none);

    await desk.desk(operator).kill('The prices are wrong.');
    await desk.desk(operator).kill('Again.');
    for (const { email } of [owner, admin]) await desk.mailed(email);
    await desk.desk(owner).revert();
    for (const { email } of [owner, admin]) await desk.mailed(email, 2);
    // As if two processes had planned each of them.
    await desk.test.rows(
      `insert into work_items (kind, id, workspace_id, queue, due_at)
       select 'notification.plan', receipt_id, $1, $1, now() from receipts
       where workspace_id = $1 and action in ('guardian.killed', 'guardian.reverted') on conflict do nothing`,
      [workspaceId],
    );
    await desk.quiet();

    for (const member of [owner, admin]) {
      expect(await subjects(member)).toEqual([
        expect.stringMatching(/^Stopped: .+ engaged the kill switch: The prices are wrong\.$/),
        expect.stringMatching(/^Running again: .+ reverted the kill switch/),
      ]);
    }
    expect(await desk.mails(operator.email)).toEqual([]);
    const [mail] = await desk.mails(owner.email);
    expect(mail!.text).toContain('nothing is drafted, approved or sent until an admin reverts it');
    expect(wordsIn(wordsOfHtml(mail!.html!))).toEqual(wordsIn(mail!.text!));
  });

  it('are mailed at once, ahead of what waits for a digest and in quiet hours', async () => {
    await owner.put('/settings', { quietHours: { from: '22:00', to: '07:00' } });
    desk.test.clock.stop(Date.UTC(2026, 1, 18, 23));
    for (let n = 0; n < 4; n++)
      await desk.escalate(workspaceId, { reason: `Outage ${n}.`, kind: 'kill_unconfirmed' });
    await desk.mailed(owner.email);
    await desk.quiet();
    for (let n = 4; n < 14; n++)
      await desk.escalate(workspaceId, { reason: `Outage ${n}.`, kind: 'kill_unconfirmed' });
    await desk.desk(owner).kill('Stop.');
    const all = await eventually(
      () => subjects(owner),
      (found) => found.some((subject) => subject!.startsWith('Stopped: ')),
    );
    expect(all).toContainEqual(expect.stringMatching(/^Stopped: .+: Stop\.$/));
  });
});
