import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { NewEscalation } from '../../../src/features/escalations/escalations.repository.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { eventually } from '../../support/test-app.js';
import { type MailedMember, NotificationDesk, wordsIn, wordsOfHtml } from './notification-desk.js';

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

const open = (escalation: Partial<NewEscalation> = {}) => desk.escalate(workspaceId, escalation);

describe('the mail about an escalation', () => {
  it('says why, until when, and what can be chosen, the same in both parts', async () => {
    const escalationId = await open({ dueAt: Date.UTC(2031, 0, 1, 12) });

    const [mail] = await desk.mailed(owner.email);

    expect(mail!.subject).toBe(
      'A person has to decide: The mail server has refused its password three times.',
    );
    for (const part of [
      escalationId,
      'You can choose:\n\n- dismiss: Closes this escalation; everything stays as it is.',
      'Wednesday, 1 January 2031 at 12:00 (UTC)',
    ])
      expect(mail!.text).toContain(part);
    expect(wordsIn(wordsOfHtml(mail!.html!))).toEqual(wordsIn(mail!.text!));
  });

  it('says of each option what it does, and which takes an admin', async () => {
    await open({
      kind: 'approval_expiring',
      entity: { type: 'approval', id: newId('apr') },
      options: ['extend', 'reject', 'dismiss'],
    });
    const [expiring] = await desk.mailed(owner.email);
    await open({
      kind: 'compensation_failed',
      entity: { type: 'work_packet', id: newId('pkt') },
      options: ['retry', 'done_by_hand', 'unknown', 'dismiss'],
    });

    const [, failed] = await desk.mailed(owner.email, 2);

    const choices = (text: string) => /You can choose:\n\n((?:- .+\n)+)/.exec(text)![1]!.trim().split('\n');
    expect(choices(expiring!.text!)).toEqual([
      '- extend: Gives the approval as much time again as it had, at most 24 hours; this is possible three times.',
      '- reject: Rejects it, so that nothing is done; your note is the reason given, and is required.',
      '- dismiss: Closes this escalation; everything stays as it is.',
    ]);
    expect(choices(failed!.text!)).toEqual([
      '- retry: Tries to undo the work packet once more. It takes the role admin.',
      '- done by hand: Records that you have undone the work packet yourself; the service does nothing more about it. It takes the role admin.',
      '- dismiss: Closes this escalation; everything stays as it is.',
    ]);
    for (const mail of [expiring!, failed!]) {
      expect(wordsIn(wordsOfHtml(mail.html!))).toEqual(wordsIn(mail.text!));
    }
  });

  it('speaks to people: no method and no path of the API, and links to where it is decided', async () => {
    const escalationId = await open({
      kind: 'kill_unconfirmed',
      reason: 'Nobody knows whether a mail was sent.',
    });

    const [mail] = await desk.mailed(owner.email);

    expect(mail!.text).toContain('What happened: the kill switch cut off the sending of a work packet');
    for (const part of [mail!.text!, mail!.html!, mail!.subject!]) {
      expect(part).not.toMatch(/\b(GET|POST|PUT|PATCH)\b|\/api\/|kill unconfirmed/);
    }
    const { url } = desk.test;
    const links = [...mail!.text!.matchAll(/<(http\S+)>/g)].map(([, link]) => link);
    expect(links).toEqual([`${url}/escalations/${escalationId}`, `${url}/account`]);
  });

  it('goes once to whoever may decide it, by their choice of escalations', async () => {
    const team = await desk.test.createTeam(workspaceId, 'Sales');
    const operator = await desk.member(workspaceId, 'operator', [team]);
    const stranger = await desk.member(workspaceId, 'operator');
    await owner.put('/profile/notifications', { escalations: 'none' });
    const entity = { type: 'connector', id: newId('con') };
    await open({ teamId: team, entity });
    await open({ teamId: team, entity });

    await desk.mailed(operator.email);
    await desk.quiet();

    expect(await desk.mails(operator.email)).toHaveLength(1);
    for (const other of [owner, stranger]) expect(await desk.mails(other.email)).toEqual([]);
  });

  it('waits for the end of quiet hours unless it is urgent, and not for one that is decided by then', async () => {
    await owner.put('/settings', { quietHours: { from: '22:00', to: '07:00' } });
    desk.test.clock.stop(Date.UTC(2026, 1, 18, 23));
    const late = await open();
    await eventually(
      () => desk.notifications(owner.memberId),
      (rows) => rows.length === 1,
    );
    await open({ kind: 'kill_unconfirmed', reason: 'Nobody knows whether a mail was sent.' });
    const [urgent] = await desk.mailed(owner.email);
    expect(urgent!.subject).toContain('Nobody knows');
    const decided = await owner.post('/escalations/decide', { escalationId: late, decision: 'dismiss' });
    expect(decided.status, decided.text).toBe(200);

    desk.test.clock.advance(9 * 3_600_000);
    await desk.look();
    await eventually(
      () => desk.notifications(owner.memberId),
      (rows) => rows.every(({ status }) => status !== 'waiting'),
    );

    expect(await desk.mails(owner.email)).toHaveLength(1);
  });

  it('has a link to the approval that is about to run out', async () => {
    const { approvalId } = await desk.desk(owner).handInReady();
    await desk.mailed(owner.email);
    await open({
      kind: 'approval_expiring',
      entity: { type: 'approval', id: approvalId },
      reason: 'An approval runs out.',
      dueAt: desk.test.clock.now() + 3_600_000,
    });

    const [, mail] = await desk.mailed(owner.email, 2);

    const answer = await fetch(mail!.links[0]!, {
      method: 'POST',
      body: new URLSearchParams({ decision: 'approve' }),
    });
    expect(answer.status).toBe(200);
    expect(await desk.desk(owner).approval(approvalId)).toMatchObject({
      status: 'approved',
      decidedVia: 'link',
    });
  });

  it.each([
    ['compensation_failed', 'work_packet', ['retry', 'done_by_hand', 'dismiss']],
    ['connector_red', 'webhook_destination', ['resume', 'dismiss']],
  ] as const)(
    'goes to admins alone where only they can do anything about it: %s',
    async (kind, type, options) => {
      const team = await desk.test.createTeam(workspaceId, 'Sales');
      const admin = await desk.member(workspaceId, 'admin');
      const operators = [
        await desk.member(workspaceId, 'operator'),
        await desk.member(workspaceId, 'operator', [team]),
      ];
      for (const teamId of [null, team]) {
        await open({ kind, entity: { type, id: newId('pkt') }, options, teamId });
      }

      for (const member of [owner, admin]) await desk.mailed(member.email, 2);
      await desk.quiet();

      for (const operator of operators) expect(await desk.mails(operator.email)).toEqual([]);
    },
  );

  const expiring = (approvalId: string) =>
    open({
      kind: 'approval_expiring',
      entity: { type: 'approval', id: approvalId },
      reason: 'An approval runs out.',
      options: ['extend', 'reject', 'dismiss'],
      dueAt: desk.test.clock.now() + 3_600_000,
    });

  it('about an approval does not go to who may not decide it: four eyes', async () => {
    const asking = await desk.member(workspaceId, 'admin');
    await owner.post('/standing-orders', {
      name: 'Four eyes',
      effect: 'require_approval',
      match: { actionTypes: ['email.send'] },
      approval: { selfApproval: false },
    });
    const { approvalId } = await desk.desk(asking).handInReady();
    await desk.mailed(owner.email);
    await expiring(approvalId);

    await desk.mailed(owner.email, 2);
    await desk.quiet();

    expect(await desk.mails(asking.email)).toEqual([]);
  });

  it('about an approval goes to who edited it last, if they may decide it: its time runs out', async () => {
    const { approvalId, approval } = await desk.desk(owner).handInReady();
    await desk.mailed(owner.email);
    const [packet] = approval.packets;
    const params = { ...packet.action.params, subject: 'Thursday' };
    const edit = { packets: [{ workPacketId: packet.workPacketId, params }] };
    expect((await desk.desk(owner).edit(approvalId, edit, approval.contentHash)).status).toBe(200);
    await desk.quiet();
    expect(await desk.mails(owner.email)).toHaveLength(1);

    await expiring(approvalId);

    const [, mail] = await desk.mailed(owner.email, 2);
    expect(mail!.subject).toContain('An approval runs out.');
    expect(mail!.links).toHaveLength(1);
  });
});
