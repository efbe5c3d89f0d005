import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { type MailServer, startMailServer } from '../mail/mail-server.js';
import { ReportDesk } from './report-desk.js';

const PASSWORD = 'correct horse battery';

/** People who are invited, chosen as recipients of the Daily Report before they accept. */
describe('a report for somebody who is invited', () => {
  let mail: MailServer;
  let test: TestApp;
  let n = 0;
  beforeAll(async () => {
    mail = await startMailServer();
    test = await startTestApp({ SMTP_URL: mail.url, MAIL_FROM: 'consigliere@northwind.example' });
    const noon = new Date(test.clock.now());
    noon.setUTCHours(12, 0, 0, 0);
    test.clock.advance(noon.getTime() - test.clock.now());
  });
  afterAll(async () => {
    await test.close();
    await mail.close();
  });

  /** Anna is invited into the team Shipping, Karl into Sales. */
  async function opened() {
    const desk = await ReportDesk.open(test);
    const invited = async (name: string, team: string) => {
      const { body } = await desk.owner.post('/teams', { name: team });
      const email = `${name}.${++n}@northwind.example`;
      const added = await desk.owner.post(`/teams/${body.teamId}/members`, { email, role: 'operator' });
      expect(added.status).toBe(201);
      return { email, teamId: body.teamId as string, inviteId: added.body.invite.inviteId as string };
    };
    return { desk, anna: await invited('anna', 'Shipping'), karl: await invited('karl', 'Sales') };
  }
  const tokenFor = async (address: string) => {
    const received = await eventually(
      async () => mail.received.filter(({ to }) => to[0] === address),
      (mails) => mails.length > 0,
    );
    return /\/invites\/([\w-]{43})/.exec(received.at(-1)!.bytes.toString().replaceAll('=\r\n', ''))![1]!;
  };
  const accept = async (desk: ReportDesk, { email }: { email: string }) => {
    const joined = await desk.owner.post('/invites/accept', {
      token: await tokenFor(email),
      displayName: `Anna ${n}`,
      password: PASSWORD,
    });
    expect(joined.status).toBe(201);
    return joined.body.memberId as string;
  };
  const set = (desk: ReportDesk, delivery: object) =>
    desk.owner.put('/reports/config', { delivery: { email: true, ...delivery } });
  const config = async (desk: ReportDesk) => (await desk.owner.get('/reports/config')).body.delivery;
  const newest = (desk: ReportDesk, isReady: (item: any) => boolean) =>
    eventually(
      async () => (await desk.owner.get('/reports')).body.items[0],
      (item) => item !== undefined && isReady(item),
    );
  const reportsTo = (address: string) =>
    mail.received.filter(({ to, bytes }) => to[0] === address && bytes.includes('Daily Report'));

  it('mails them nothing before they accept, and then what they may read', async () => {
    const { desk, anna, karl } = await opened();
    const saved = await set(desk, { inviteIds: [anna.inviteId, karl.inviteId] });
    expect([saved.status, saved.body.delivery]).toEqual([
      200,
      expect.objectContaining({ email: true, memberIds: [], inviteIds: [anna.inviteId, karl.inviteId] }),
    ]);
    expect((await desk.owner.get('/profile/notifications')).body.mailed.reports).toEqual([]);
    await desk.look(desk.day(2));
    const before = await newest(desk, ({ date }) => date === desk.day(1));
    expect(before.recipients).toEqual([]);
    const memberId = await accept(desk, anna);
    expect(await config(desk)).toMatchObject({ memberIds: [memberId], inviteIds: [karl.inviteId] });
    expect((await desk.owner.get('/profile/notifications')).body.mailed.reports).toEqual([anna.email]);
    expect((await desk.owner.post(`/reports/${before.reportId}/resend`)).status).toBe(202);
    const sent = await newest(desk, ({ delivery }) => delivery.status === 'sent');
    expect(sent.recipients).toMatchObject([{ memberId, status: 'sent' }]);
    expect(reportsTo(anna.email)).toHaveLength(1);
    expect(reportsTo(anna.email)[0]!.bytes.toString()).toContain('Shipping');
    expect(reportsTo(karl.email)).toEqual([]);
    // Whoever names the recipients anew leaves nobody behind that came by an invite.
    expect((await set(desk, { memberIds: [], inviteIds: [karl.inviteId] })).status).toBe(200);
    expect(await config(desk)).toMatchObject({ memberIds: [], inviteIds: [karl.inviteId] });
  });

  it('drops whose invite is withdrawn or has expired, and refuses such an invite', async () => {
    const { desk, anna, karl } = await opened();
    expect((await set(desk, { inviteIds: [anna.inviteId, karl.inviteId] })).status).toBe(200);
    expect((await desk.owner.delete(`/invites/${anna.inviteId}`)).status).toBe(200);
    await test.rows(`update invites set expires_at = now() where invite_id = $1`, [karl.inviteId]);
    expect(await config(desk)).toMatchObject({ memberIds: [], inviteIds: [] });
    const refused = await set(desk, { inviteIds: [anna.inviteId] });
    expect([refused.status, refused.body.error.details[0]]).toEqual([
      422,
      {
        path: 'delivery.inviteIds',
        rule: 'mayRead',
        message: `delivery.inviteIds: ${anna.inviteId} is no invite that can be accepted`,
      },
    ]);
    const { desk: other } = await opened();
    expect((await set(other, { inviteIds: [karl.inviteId] })).status).toBe(422);
  });

  it('takes an address typed by hand for the person who is invited by it', async () => {
    const { desk, anna } = await opened();
    const saved = await set(desk, { emailAddress: anna.email.toUpperCase() });
    expect(saved.body.delivery).toMatchObject({ emailAddress: null, inviteIds: [anna.inviteId] });
  });

  it('mails nothing to an address that was named before its person was invited, and says why', async () => {
    const { desk, anna } = await opened();
    const email = `later.${++n}@xn--bcher-kva.example`;
    const { body } = await set(desk, { emailAddress: `Later.${n}@Bücher.example` });
    expect(body.delivery.emailAddress).toBe(email);
    expect(
      (await desk.owner.post('/teams/' + anna.teamId + '/members', { email, role: 'viewer' })).status,
    ).toBe(201);
    await desk.look(desk.day(2));
    const item = await newest(desk, ({ recipients }) => recipients[0]?.status === 'none');
    expect(item.recipients).toMatchObject([
      {
        address: email,
        status: 'none',
        error: 'Somebody is invited by this address, and is mailed reports once that is accepted.',
      },
    ]);
    expect(reportsTo(email)).toEqual([]);
    const viewer = await test.createMember(desk.workspaceId, 'viewer');
    for (const path of ['/audit-feed', '/audit-feed?format=jsonl', '/feed'])
      expect((await viewer.get(path)).text).not.toContain(email);
    expect((await desk.owner.get('/profile/notifications')).body.mailed.reports).toEqual([]);
  });

  it('names at most twenty, members and invited together', async () => {
    const { desk, anna } = await opened();
    const members = await Promise.all(
      Array.from({ length: 20 }, async () => (await test.createMember(desk.workspaceId, 'viewer')).memberId),
    );
    const refused = await set(desk, { memberIds: members, inviteIds: [anna.inviteId] });
    expect([refused.status, refused.body.error.details[0].message]).toEqual([
      422,
      'delivery: at most 20 recipients',
    ]);
  });
});
