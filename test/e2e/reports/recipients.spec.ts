import PostalMime from 'postal-mime';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk } from '../directives/desk.js';
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
    const viewer = await test.createMember(desk.workspaceId, 'viewer');
    for (const path of ['/audit-feed', '/feed', '/signals'])
      expect((await viewer.get(path)).text, path).not.toMatch(/acme\.example|No such mailbox/);
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

  it('refuses who is no member, and an address of somebody who was removed, and changes nothing', async () => {
    const { desk, ann, ben } = await opened();
    expect((await name(desk, [ann.memberId])).status).toBe(200);
    const stranger = await name(desk, ['mem_01kerq74k0wtbyzq0h359nrdxj']);
    expect([stranger.status, stranger.body.error.details[0].path]).toEqual([422, 'delivery.memberIds']);
    await test.rows(`update members set status = 'removed' where member_id = $1`, [ben.memberId]);
    const former = await name(desk, [], { emailAddress: ben.address });
    expect([former.status, former.body.error.details]).toEqual([
      422,
      [
        {
          path: 'delivery.emailAddress',
          rule: 'mayRead',
          message: 'delivery.emailAddress: Ben was removed from this workspace',
        },
      ],
    ]);
    expect((await name(desk, [])).status).toBe(422);
    expect((await desk.owner.get('/reports/config')).body.delivery.memberIds).toEqual([ann.memberId]);
  });

  it('knows somebody who was removed by an international address in each of its spellings', async () => {
    const { desk, ann, ben } = await opened();
    for (const [{ memberId }, who] of [
      [ann, 'ann'],
      [ben, 'ben'],
    ] as const)
      await test.rows(
        `update users u set email = $2 || '@xn--bcher-kva.example' from members m
         where m.user_id = u.user_id and m.member_id = $1`,
        [memberId, `${who}.${memberId}`],
      );
    const removed = (memberId: string) =>
      test.rows(`update members set status = 'removed' where member_id = $1`, [memberId]);
    await removed(ben.memberId);
    for (const domain of ['bücher.example', 'BÜCHER.example', 'xn--bcher-kva.example']) {
      const former = await name(desk, [], { emailAddress: `ben.${ben.memberId}@${domain}` });
      expect([former.status, former.body.error?.details[0].rule], domain).toEqual([422, 'mayRead']);
    }
    expect((await name(desk, [], { emailAddress: `Ann.${ann.memberId}@Bücher.example` })).status).toBe(200);
    const mailed = async () => (await desk.owner.get('/profile/notifications')).body.mailed.reports;
    expect(await mailed()).toEqual([`ann.${ann.memberId}@xn--bcher-kva.example`]);
    await removed(ann.memberId);
    expect(await mailed()).toEqual([]);
    await desk.look(desk.day(2));
    const item = await until(desk, 'none');
    expect(item.recipients[0].error).toBe('Ann was removed from this workspace.');
    expect(recipients()).toEqual([]);
  });

  describe('in a workspace with teams', () => {
    const SHIPPING = 'Pallet forty-two';
    const SALES = 'Secret discount';
    const NO_TEAM = 'Board minutes';

    /** A day on which each team, and the workspace itself, sent one mail; and one more of each waits. */
    async function openedWithTeams() {
      const { desk, ann, ben } = await opened();
      const { workspaceId } = desk;
      const shipping = await test.createTeam(workspaceId, 'Shipping');
      const sales = await test.createTeam(workspaceId, 'Sales');
      const work = new Desk(test, desk.workspace.owner.token);
      const handIn = (subject: string, team: object) =>
        work.handInReady({
          text: `Email jane@acme.example, subject "${subject}": "A word."`,
          capo: 'capo_ops',
          ...team,
        });
      for (const [subject, team] of [
        [SHIPPING, { teamId: shipping }],
        [SALES, { teamId: sales }],
        [NO_TEAM, {}],
      ] as const) {
        const { approvalId, directiveId } = await handIn(`${subject} left`, team);
        await work.approve(approvalId);
        await work.until(directiveId, 'executed');
        await handIn(`${subject} waits`, team);
      }
      await test.rows(`update members set role = 'viewer' where member_id = $1`, [ann.memberId]);
      const joins = (teamId: string) =>
        test.rows(
          `insert into team_members (workspace_id, team_id, member_id, role) values ($1, $2, $3, 'operator')`,
          [workspaceId, teamId, ann.memberId],
        );
      await joins(shipping);
      mail.received.length = 0;
      test.clock.advance(86_400_000);
      return { desk, ann, ben, sales, joins };
    }
    afterEach(() => test.clock.advance(-86_400_000));

    /** Approvals are mailed, too. */
    const reports = async () => {
      const mails = await Promise.all(
        mail.received.map(async ({ to, bytes }) => ({ ...(await PostalMime.parse(bytes)), rcpt: to })),
      );
      return mails.filter(({ subject }) => subject?.startsWith('Daily Report'));
    };
    const reportTo = async (address: string) => {
      const found = (await reports()).filter(({ rcpt }) => rcpt.some((one) => one.toLowerCase() === address));
      expect(found).toHaveLength(1);
      const { subject, html, text } = found[0]!;
      return { subject: subject!, text: text!, all: `${subject}\n${html ?? ''}\n${text}` };
    };

    it('mails each what they may read themselves: an admin everything, a member what their teams do', async () => {
      const { desk, ann, ben, sales, joins } = await openedWithTeams();
      expect((await name(desk, [ann.memberId, ben.memberId])).status).toBe(200);
      expect((await desk.owner.get('/profile/notifications')).body.mailed.reports).toHaveLength(2);
      await desk.look(desk.day(2));
      await until(desk, 'sent');
      const whole = await reportTo(ben.address);
      for (const team of [SHIPPING, SALES, NO_TEAM]) {
        expect(whole.text).toContain(`${team} left`);
        expect(whole.text).toContain(`${team} waits`);
      }
      const own = await reportTo(ann.address);
      expect(own.subject).toMatch(/^Daily Report of the team Shipping, \w+, .*1 directive executed/);
      expect(own.text).toContain(`${SHIPPING} left`);
      expect(own.text).toContain(`${SHIPPING} waits`);
      expect(own.all).not.toMatch(/discount|minutes|Sales|so far/i);
      expect(own.text).toContain(`/overview?view=boss&date=${desk.day(1)}`);
      expect((await ann.get(`/reports/daily?date=${desk.day(1)}`)).body.sections.agentActivity).toMatchObject(
        {
          directivesExecuted: 1,
          movesSent: 1,
        },
      );
      const receipts = await test.rows<{ body: string }>(
        `select body from receipts where workspace_id = $1 and action = 'report.mailed'`,
        [desk.workspaceId],
      );
      expect(receipts.map(({ body }) => JSON.parse(body).summary).toSorted()).toEqual([
        `The Daily Report of ${desk.day(1)} was mailed to Ann, with what their teams did.`,
        `The Daily Report of ${desk.day(1)} was mailed to Ben.`,
      ]);
      // One mail about two teams, in the form that programs read, too.
      await joins(sales);
      await desk.owner.put('/reports/config', { format: 'json' });
      mail.received.length = 0;
      test.clock.advance(30_000);
      const { reportId } = (await desk.owner.get('/reports')).body.items[0];
      expect((await desk.owner.post(`/reports/${reportId}/resend`)).status).toBe(202);
      await until(desk, 'sent');
      const json = await reportTo(ann.address);
      expect(json.subject).toMatch(/^Daily Report of the teams Sales and Shipping, /);
      expect(JSON.parse(json.text)).toEqual({
        ...(await ann.get(`/reports/daily?date=${desk.day(1)}`)).body,
        generatedAt: expect.any(String),
        receiptHead: expect.anything(),
      });
      expect(json.all).toContain(SALES);
      expect(json.all).not.toContain(NO_TEAM);
      test.clock.advance(-30_000);
    });

    it('mails the address of a member what that member may read, also one who joined since', async () => {
      const { desk, ann } = await openedWithTeams();
      await test.rows(`update users set email = 'new@acme.example' where email = $1`, [ann.address]);
      expect((await name(desk, [], { emailAddress: ann.address.toUpperCase() })).status).toBe(200);
      await test.rows(`update users set email = $1 where email = 'new@acme.example'`, [ann.address]);
      await desk.look(desk.day(2));
      await until(desk, 'sent');
      const own = await reportTo(ann.address);
      expect(own.text).toContain(`${SHIPPING} left`);
      expect(own.all).not.toMatch(/discount|minutes/i);
    });

    it.each([
      ['was taken out of their team', 'delete from team_members where member_id = $1', 'is in no team'],
      [
        'was removed',
        `update members set status = 'removed' where member_id = $1`,
        'was removed from this workspace',
      ],
    ])('mails nothing to the address of a member who %s', async (_what, change, why) => {
      const { desk, ann } = await openedWithTeams();
      expect((await name(desk, [], { emailAddress: ann.address })).status).toBe(200);
      await test.rows(change, [ann.memberId]);
      expect((await desk.owner.get('/profile/notifications')).body.mailed.reports).toEqual([]);
      await desk.look(desk.day(2));
      const item = await until(desk, 'none');
      expect(item.recipients[0].error).toContain(`Ann ${why}`);
      expect(await reports()).toEqual([]);
    });
  });
});
