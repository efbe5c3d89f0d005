import PostalMime from 'postal-mime';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { type MailServer, startMailServer } from '../mail/mail-server.js';
import { ReportDesk } from './report-desk.js';

/** The Daily Report for several members, chosen by name, beside the configured address. */
describe('a report with several recipients', () => {
  let mail: MailServer;
  let test: TestApp;
  let refused: string | undefined;
  beforeAll(async () => {
    mail = await startMailServer({
      recipient: (address) => (address === refused ? { code: 550, text: 'No such mailbox' } : undefined),
    });
    test = await startTestApp({ SMTP_URL: mail.url, MAIL_FROM: 'consigliere@northwind.example' });
    const noon = new Date(test.clock.now());
    noon.setUTCHours(12, 0, 0, 0);
    test.clock.advance(noon.getTime() - test.clock.now());
  });
  afterEach(() => {
    refused = undefined;
    mail.received.length = 0;
  });
  afterAll(async () => {
    await test.close();
    await mail.close();
  });

  const recipients = () => mail.received.map(({ to }) => to).toSorted();
  const until = (desk: ReportDesk, status: string) =>
    eventually(
      async () => (await desk.owner.get('/reports')).body.items[0],
      (item) =>
        item?.delivery.status === status &&
        item.recipients.length > 0 &&
        item.recipients.every(({ at }: { at: string | null }) => at !== null),
    );
  /** Two admins, whose addresses are theirs alone. */
  async function opened() {
    const desk = await ReportDesk.open(test);
    const members = await Promise.all(
      ['Ann', 'Ben'].map(async (name) => {
        const member = await test.createMember(desk.workspaceId, 'admin');
        const address = `${name.toLowerCase()}.${member.memberId}@acme.example`;
        await test.rows(
          `update users u set email = $2, display_name = $3 from members m where m.user_id = u.user_id and m.member_id = $1`,
          [member.memberId, address, name],
        );
        return Object.assign(member, { address });
      }),
    );
    return { desk, ann: members[0]!, ben: members[1]! };
  }
  const name = (desk: ReportDesk, memberIds: string[], more: object = {}) =>
    desk.owner.put('/reports/config', { delivery: { email: true, memberIds, ...more } });

  it('mails each of them once, in a mail of their own, and the address that is one of theirs no second time', async () => {
    const { desk, ann, ben } = await opened();
    const both = [ann.memberId, ben.memberId];
    const saved = await name(desk, both, { emailAddress: ann.address.toUpperCase() });
    expect(saved.status).toBe(200);
    expect(saved.body.delivery).toMatchObject({ email: true, memberIds: both });
    await desk.look(desk.day(2));
    const item = await until(desk, 'sent');
    expect(recipients()).toEqual([[ann.address], [ben.address]].toSorted());
    const mails = await Promise.all(mail.received.map(({ bytes }) => PostalMime.parse(bytes)));
    expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(2);
    expect(
      item.recipients.toSorted((a: { memberId: string }, b: { memberId: string }) =>
        a.memberId < b.memberId ? -1 : 1,
      ),
    ).toEqual(
      both.toSorted().map((memberId) => ({
        memberId,
        address: null,
        status: 'sent',
        at: expect.any(String),
        error: null,
      })),
    );
    expect((await desk.owner.get('/profile/notifications')).body.mailed.reports.toSorted()).toEqual(
      [ann.address, ben.address].toSorted(),
    );
    expect(await desk.actions('report.mailed')).toHaveLength(2);
  });

  it('tells of the one that failed, and sends that one again and the other not', async () => {
    const { desk, ann, ben } = await opened();
    expect((await name(desk, [ann.memberId, ben.memberId])).status).toBe(200);
    refused = ben.address;
    await desk.look(desk.day(2));
    const { reportId, recipients: outcomes } = await until(desk, 'failed');
    expect(outcomes).toContainEqual(expect.objectContaining({ memberId: ann.memberId, status: 'sent' }));
    expect(outcomes).toContainEqual(
      expect.objectContaining({
        memberId: ben.memberId,
        status: 'failed',
        error: expect.stringContaining('No such mailbox'),
      }),
    );
    const [signal] = (await desk.owner.get('/signals?type=report')).body.items;
    expect(signal.title).toMatch(/ could not be mailed to Ben$/);
    refused = undefined;
    const again = await desk.owner.post(`/reports/${reportId}/resend`, { to: 'failed' });
    expect(again.status).toBe(202);
    await until(desk, 'sent');
    expect(recipients().toSorted()).toEqual([[ann.address], [ben.address]].toSorted());
    const nobody = await desk.owner.post(`/reports/${reportId}/resend`, { to: 'failed' });
    expect([nobody.status, nobody.body.error.message]).toEqual([409, 'No mail of this report has failed.']);
  });

  it('mails nobody who has left, wants none, or was taken out while it was on its way', async () => {
    const { desk, ann, ben } = await opened();
    expect((await name(desk, [ann.memberId, ben.memberId])).status).toBe(200);
    expect((await ann.put('/profile/notifications', { reports: 'none' })).status).toBe(200);
    await test.rows(`update members set status = 'removed' where member_id = $1`, [ben.memberId]);
    expect((await desk.owner.get('/reports/config')).body.delivery.memberIds).toEqual([ann.memberId]);
    await desk.look(desk.day(2));
    const item = await until(desk, 'none');
    expect(item.recipients).toEqual([
      expect.objectContaining({
        memberId: ann.memberId,
        status: 'none',
        error: 'Ann has chosen to be mailed no reports.',
      }),
    ]);
    expect(recipients()).toEqual([]);
  });

  it('refuses who is no member, and who does not read the reports of all teams, and changes nothing', async () => {
    const { desk, ann } = await opened();
    expect((await name(desk, [ann.memberId])).status).toBe(200);
    const stranger = await name(desk, ['mem_01kerq74k0wtbyzq0h359nrdxj']);
    expect([stranger.status, stranger.body.error.details[0].path]).toEqual([422, 'delivery.memberIds']);
    const viewer = await test.createMember(desk.workspaceId, 'viewer');
    expect((await name(desk, [viewer.memberId])).status).toBe(200);
    expect((await desk.owner.post('/teams', { name: 'Sales' })).status).toBe(201);
    const narrow = await name(desk, [viewer.memberId]);
    expect([narrow.status, narrow.body.error.details[0].message]).toEqual([
      422,
      expect.stringContaining('does not read what all teams do'),
    ]);
    expect((await name(desk, [])).status).toBe(422);
    expect((await desk.owner.get('/reports/config')).body.delivery.memberIds).toEqual([viewer.memberId]);
    await desk.look(desk.day(2));
    const item = await until(desk, 'none');
    expect(item.recipients[0].error).toContain('does not read what all teams do');
    expect(recipients()).toEqual([]);
  });
});
