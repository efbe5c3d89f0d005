import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Escalations, type NewEscalation } from '../../../src/features/escalations/escalations.repository.js';
import { Db } from '../../../src/platform/database/db.js';
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

const open = (escalation: Partial<NewEscalation> = {}) =>
  desk.test.app.get(Db).transaction({ workspaceId, teamIds: 'all' }, () =>
    desk.test.app.get(Escalations).open({
      kind: 'connector_red',
      entity: { type: 'connector', id: newId('con') },
      teamId: null,
      reason: 'The mail server has refused its password three times.',
      options: ['dismiss'],
      dueAt: null,
      ...escalation,
    }),
  );

describe('the mail about an escalation', () => {
  it('says why, until when, and what can be chosen, the same in both parts', async () => {
    const escalationId = await open({ dueAt: Date.UTC(2031, 0, 1, 12) });

    const [mail] = await desk.mailed(owner.email);

    expect(mail!.subject).toBe(
      'A person has to decide: The mail server has refused its password three times.',
    );
    for (const part of [escalationId, 'You can choose: dismiss', 'Wednesday, 1 January 2031 at 12:00 (UTC)'])
      expect(mail!.text).toContain(part);
    expect(wordsIn(wordsOfHtml(mail!.html!))).toEqual(wordsIn(mail!.text!));
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
});
