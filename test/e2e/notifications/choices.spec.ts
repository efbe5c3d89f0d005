import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/test-app.js';
import { MAIL } from '../directives/desk.js';
import { type MailedMember, NotificationDesk } from './notification-desk.js';

const HOUR = 3_600_000;
const PATH = '/profile/notifications';
const NOTHING = { approvals: null, escalations: null, reports: null, quietHours: null, atAnyHour: false };
const ALL = { approvals: 'all', escalations: 'all', reports: 'all', quietHours: null };

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

const told = (member: MailedMember, count: number) =>
  eventually(
    () => desk.notifications(member.memberId),
    (rows) => rows.length === count,
  );

describe('GET /profile/notifications 200', () => {
  it('answers every role what is mailed to them, and when', async () => {
    await owner.put('/settings', { timezone: 'Europe/Vienna', notifications: { approvals: 'digest' } });
    const viewer = await desk.member(workspaceId, 'viewer');
    expect(await viewer.get(PATH)).toMatchObject({
      status: 200,
      body: {
        address: viewer.email,
        timezone: 'Europe/Vienna',
        own: NOTHING,
        effective: { ...ALL, approvals: 'digest' },
      },
    });
  });

  it('says that an address receives nothing', async () => {
    const unreachable = await desk.test.createMember(workspaceId, 'viewer');
    expect((await unreachable.get(PATH)).body.address).toBeNull();
  });
});

describe('who in the workspace is mailed', () => {
  const mailed = async (by: MailedMember = owner) => (await by.get(PATH)).body.mailed;

  it('is told to owner and admins, with what to do where nobody is', async () => {
    const operator = await desk.member(workspaceId, 'operator');
    await desk.member(workspaceId, 'viewer');
    const everybody = [owner.email, operator.email];
    expect(await mailed(operator)).toBeNull();
    expect(await mailed()).toEqual({
      approvals: everybody,
      escalations: everybody,
      reports: [],
      advice: [expect.stringMatching(/^No Daily Report is mailed\. .*PUT \/reports\/config/)],
    });

    const delivery = { email: true, emailAddress: operator.email };
    expect((await owner.put('/reports/config', { delivery })).status).toBe(200);
    await operator.put(PATH, { approvals: 'none' });
    expect(await mailed()).toEqual({
      approvals: [owner.email],
      escalations: everybody,
      reports: [operator.email],
      advice: [],
    });
    await operator.put(PATH, { reports: 'none' });
    const { body } = await owner.put(PATH, { approvals: 'none' });
    expect(body.mailed).toEqual({
      approvals: [],
      escalations: everybody,
      reports: [],
      advice: [
        expect.stringMatching(/^Nobody is mailed about approvals: .* has chosen "none"/),
        expect.stringMatching(/^No Daily Report is mailed: the member at/),
      ],
    });
    expect(await mailed()).toEqual(body.mailed);
  });

  it('is nobody while the owner is at example.com, and says how to change that', async () => {
    await desk.test.rows(`update users set email = user_id || '@example.com' where email = $1`, [
      owner.email,
    ]);
    expect(await mailed()).toMatchObject({
      approvals: [],
      escalations: [],
      advice: [
        expect.stringMatching(/nobody receives mail at .*example\.com\. Invite yourself/),
        expect.anything(),
      ],
    });
  });
});

describe('PUT /profile/notifications 200', () => {
  it('changes what it names, with a receipt, and takes it back with null', async () => {
    const viewer = await desk.member(workspaceId, 'viewer');
    const quietHours = { from: '20:00', to: '08:00' };
    const first = await viewer.put(PATH, { approvals: 'urgent', quietHours });
    expect(first).toMatchObject({
      status: 200,
      body: {
        own: { ...NOTHING, approvals: 'urgent', quietHours },
        effective: { ...ALL, approvals: 'urgent', quietHours },
      },
    });
    const second = await viewer.put(PATH, { approvals: null, atAnyHour: true });
    expect(second.body.own).toEqual({ ...NOTHING, quietHours, atAnyHour: true });
    expect(second.body.effective).toEqual(ALL);
    expect((await viewer.get(PATH)).body).toEqual(second.body);
    await viewer.put(PATH, {});
    const receipts = await desk.test.rows<{ body: string }>(
      `select body from receipts where workspace_id = $1 and action = 'notifications.chosen' order by seq`,
      [workspaceId],
    );
    expect(receipts.map(({ body }) => JSON.parse(body).details)).toEqual([
      { old: NOTHING, new: { ...NOTHING, approvals: 'urgent', quietHours } },
      { old: { ...NOTHING, approvals: 'urgent', quietHours }, new: second.body.own },
    ]);
  });
});

describe('PUT /profile/notifications 422', () => {
  it.each([
    [{ approvals: 'some' }, 'approvals'],
    [{ approvals: true }, 'approvals'],
    [{ reports: 'urgent' }, 'reports'],
    [{ quietHours: { from: '24:00', to: '07:00' } }, 'quietHours.from'],
    [{ quietHours: { from: '07:00', to: '07:00' } }, 'quietHours.to'],
    [{ quietHours: [] }, 'quietHours'],
    [{ atAnyHour: null }, 'atAnyHour'],
    [{ atAnyHour: 'yes' }, 'atAnyHour'],
    [{ email: 'other@northwind.example' }, 'email'],
  ])('refuses %j and names the fault', async (body, path) => {
    const before = (await owner.get(PATH)).body;
    const answer = await owner.put(PATH, body);
    expect(answer.status).toBe(422);
    expect(answer.body.error.details[0].path).toBe(path);
    expect((await owner.get(PATH)).body).toEqual(before);
  });
});

describe('what members have chosen', () => {
  it('none and urgent: is not mailed about the rest', async () => {
    const admin = await desk.member(workspaceId, 'admin');
    const other = await desk.member(workspaceId, 'admin');
    await owner.put(PATH, { approvals: 'none' });
    await admin.put(PATH, { approvals: 'urgent' });

    await desk.desk(owner).handInReady();
    await desk.mailed(other.email);
    await desk.desk(owner).handInReady({ text: MAIL, priority: 'high' });
    const [urgent] = await desk.mailed(admin.email);
    await desk.quiet();

    expect(urgent!.subject).toMatch(/^Urgent, /);
    expect(await desk.mails(admin.email)).toHaveLength(1);
    expect(await desk.mails(owner.email)).toEqual([]);
  });

  it('is looked at again as a mail is put together', async () => {
    await owner.put('/settings', { quietHours: { from: '22:00', to: '07:00' } });
    desk.test.clock.stop(Date.UTC(2026, 1, 18, 23));
    await desk.desk(owner).handInReady();
    await told(owner, 1);
    await owner.put(PATH, { approvals: 'none' });

    desk.test.clock.advance(9 * HOUR);
    await desk.look();
    const [row] = await eventually(
      () => desk.notifications(owner.memberId),
      ([one]) => one!.status !== 'waiting',
    );

    expect(row).toMatchObject({ status: 'skipped', reason: expect.stringContaining('has chosen') });
    expect(await desk.mails(owner.email)).toEqual([]);
  });
});

describe('past the limits of mails in an hour', () => {
  it('mails the first urgent one at once, and those of the next minute together', async () => {
    const members = desk.desk(owner);
    const handIn = (text: string, priority = 'medium') =>
      members.handInReady({ text: `${MAIL} ${text}`, priority });
    await handIn('First.');
    await desk.mailed(owner.email);
    // Eight more, and a digest, within the hour.
    await desk.test.rows(
      `insert into notifications (workspace_id, notification_id, member_id, kind, entity_id, revision, urgent, in_digest, status,
         due_at, mail_id, tries, created_at, ended_at)
       select workspace_id, 'ntf_' || n, member_id, kind, 'apr_' || n, revision, false, n = 9, 'sent', due_at, 'ntf_' || n, 0, created_at, now()
       from notifications, generate_series(1, 9) n where member_id = $1`,
      [owner.memberId],
    );
    const waiting = (count: number) =>
      eventually(
        async () => (await desk.notifications(owner.memberId)).filter(({ status }) => status === 'waiting'),
        (rows) => rows.length === count,
      );
    /** Once the worker has looked at what waits, and left it for later. */
    const putOff = () =>
      eventually(
        () =>
          desk.test.rows(
            `select 1 from work_items where kind = 'notification.send' and id = $1 and not claimed and due_at > now()`,
            [owner.memberId],
          ),
        (rows) => rows.length === 1,
      );
    await handIn('Ordinary.');
    await waiting(1);
    await putOff();
    expect(await desk.mails(owner.email)).toHaveLength(1);

    await handIn('Urgent one.', 'high');
    const [, atOnce] = await desk.mailed(owner.email, 2);
    expect(atOnce!.subject).toMatch(/^Urgent, waits for you/);
    expect(atOnce!.links).toHaveLength(1);
    for (const text of ['Urgent two.', 'Urgent three.']) await handIn(text, 'high');
    await waiting(3);
    await putOff();
    expect(await desk.mails(owner.email)).toHaveLength(2);

    desk.test.clock.advance(61_000);
    await desk.look();
    const [, , together] = await desk.mailed(owner.email, 3);
    const places = ['Urgent two.', 'Urgent three.', 'Ordinary.'].map((text) => together!.text!.indexOf(text));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });
});

describe('quiet hours', () => {
  it('let what is urgent through, and the rest comes as one digest when they end', async () => {
    await owner.put('/settings', { timezone: 'Europe/Berlin', quietHours: { from: '22:00', to: '07:00' } });
    // 23:30 in Berlin.
    desk.test.clock.stop(Date.UTC(2026, 1, 18, 22, 30));
    for (const name of ['Anna', 'Bert', 'Cleo'])
      await desk
        .desk(owner)
        .handInReady({ text: `Email ${name.toLowerCase()}@acme.example, subject "Hello": Hello ${name}.` });
    await told(owner, 3);
    await desk.desk(owner).handInReady({ text: MAIL, priority: 'high' });
    await desk.mailed(owner.email);
    await desk.quiet();
    expect(await desk.mails(owner.email)).toHaveLength(1);

    // 06:50: not yet.
    desk.test.clock.stop(Date.UTC(2026, 1, 19, 5, 50));
    await desk.look();
    await desk.quiet();
    expect(await desk.mails(owner.email)).toHaveLength(1);

    desk.test.clock.stop(Date.UTC(2026, 1, 19, 6));
    await desk.look();
    const [, digest] = await desk.mailed(owner.email, 2);
    await desk.quiet();

    expect(await desk.mails(owner.email)).toHaveLength(2);
    expect(digest!.subject).toBe('4 decisions wait for you (3 new)');
    for (const name of ['anna', 'bert', 'cleo']) expect(digest!.text).toContain(`${name}@acme.example`);
    // The urgent one was mailed at night, and still waits.
    expect(digest!.text).toContain('1 you were told of before');
    expect(new Set(digest!.links).size).toBe(4);
  });
});

describe('a digest once a day', () => {
  it('has all that waits, and what was decided meanwhile is not in it', async () => {
    desk.test.clock.stop(Date.UTC(2026, 1, 18, 12));
    await owner.put(PATH, { approvals: 'digest' });
    const first = await desk
      .desk(owner)
      .handInReady({ text: 'Email anna@acme.example, subject "Hello": Hello Anna.' });
    await desk.desk(owner).handInReady({ text: 'Email bert@acme.example, subject "Hello": Hello Bert.' });
    await desk.desk(owner).handInReady({ text: 'Email cleo@acme.example, subject "Hello": Hello Cleo.' });
    await told(owner, 3);
    await desk.quiet();
    expect(await desk.mails(owner.email)).toEqual([]);
    await desk.desk(owner).reject(first.approvalId);

    desk.test.clock.stop(Date.UTC(2026, 1, 19, 8));
    await desk.look();
    const [digest] = await desk.mailed(owner.email);
    await desk.quiet();

    expect(digest!.subject).toBe('2 decisions wait for you');
    expect(digest!.text).not.toContain('anna@acme.example');
    expect(await desk.mails(owner.email)).toHaveLength(1);
  });

  it('names nothing that the member was told of before and may not decide any more', async () => {
    desk.test.clock.stop(Date.UTC(2026, 1, 18, 12));
    const [sales, support] = [
      await desk.test.createTeam(workspaceId, 'Sales'),
      await desk.test.createTeam(workspaceId, 'Support'),
    ];
    const moved = await desk.member(workspaceId, 'operator', [sales]);
    const colleague = await desk.member(workspaceId, 'operator', [support]);
    await desk.desk(moved).handInReady({
      text: 'Email anna@acme.example, subject "The price for Anna is 990": The price for Anna is 990.',
    });
    await desk.mailed(moved.email);
    await desk.quiet();
    await moved.put(PATH, { approvals: 'digest' });
    await desk.test.rows('update team_members set team_id = $2 where member_id = $1', [
      moved.memberId,
      support,
    ]);
    await desk.desk(colleague).handInReady({ text: 'Email bert@acme.example, subject "Hello": Hello Bert.' });
    await desk.desk(colleague).handInReady({ text: 'Email cleo@acme.example, subject "Hello": Hello Cleo.' });
    await told(moved, 3);

    desk.test.clock.stop(Date.UTC(2026, 1, 19, 8));
    await desk.look();
    const [, digest] = await desk.mailed(moved.email, 2);

    expect(digest!.subject).toBe('2 decisions wait for you');
    expect(digest!.text).toContain('bert@acme.example');
    for (const word of ['anna', 'Anna', 'told of before']) expect(digest!.text).not.toContain(word);
    expect(digest!.links).toHaveLength(2);
    const links = await desk.test.rows<{ approval_id: string }>(
      `select approval_id from decision_links where member_id = $1 and mail_id <> (
         select mail_id from decision_links where member_id = $1 order by created_at limit 1)`,
      [moved.memberId],
    );
    expect(links).toHaveLength(2);
  });

  it('names nothing again that the member has chosen not to be told of since', async () => {
    desk.test.clock.stop(Date.UTC(2026, 1, 18, 12));
    await desk.desk(owner).handInReady({ text: 'Email anna@acme.example, subject "Hello": Hello Anna.' });
    await desk.mailed(owner.email);
    await desk.quiet();
    await owner.put(PATH, { approvals: 'none', escalations: 'digest' });
    for (const reason of ['The first printer is broken.', 'The second printer is broken.'])
      await desk.escalate(workspaceId, { reason });
    await told(owner, 3);

    desk.test.clock.stop(Date.UTC(2026, 1, 19, 8));
    await desk.look();
    const [, digest] = await desk.mailed(owner.email, 2);

    expect(digest!.subject).toBe('2 decisions wait for you');
    expect(digest!.text).not.toContain('anna@acme.example');
    // There is no link of which it could be said whom it is for.
    expect(digest!.links).toEqual([]);
    expect(digest!.text).not.toContain('for you alone');
  });

  it('begins with what is urgent by then, whatever kind of thing it is', async () => {
    desk.test.clock.stop(Date.UTC(2026, 1, 18, 12));
    await owner.put(PATH, { approvals: 'digest', escalations: 'digest' });
    await desk.desk(owner).handInReady({ text: 'Email anna@acme.example, subject "Hello": Hello Anna.' });
    await desk.desk(owner).handInReady({ text: 'Email bert@acme.example, subject "Hello": Hello Bert.' });
    await told(owner, 2);
    await desk.escalate(workspaceId, {
      reason: 'The printer is broken.',
      dueAt: Date.UTC(2026, 1, 19, 9),
    });
    await told(owner, 3);

    desk.test.clock.stop(Date.UTC(2026, 1, 19, 8));
    await desk.look();
    const [digest] = await desk.mailed(owner.email);

    const text = digest!.text!;
    const [printer, anna, bert] = [/The printer is broken/, /anna@/, /bert@/].map((words) =>
      text.search(words),
    );
    expect(printer).toBeGreaterThan(-1);
    for (const other of [anna, bert]) expect(other).toBeGreaterThan(printer!);
    expect(text).toContain('Each link to a draft is for you alone');
  });
});
