import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Client } from '../../support/client.js';
import { eventually } from '../../support/test-app.js';
import { MAIL } from '../directives/desk.js';
import {
  LinkReader,
  type MailedMember,
  NotificationDesk,
  wordsIn,
  wordsOfHtml,
} from './notification-desk.js';

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

describe('the mail about an approval', () => {
  it('has the complete draft, whom it goes to, the risk, the expiry in the zone and a link', async () => {
    await owner.put('/settings', { timezone: 'Europe/Vienna' });
    const { approvalId, approval } = await desk.desk(owner).handInReady();

    const [mail] = await desk.mailed(owner.email);

    expect(mail!.subject).toContain('Email jane@acme.example');
    for (const part of [mail!.text!, wordsOfHtml(mail!.html!)]) {
      expect(part).toContain('jane@acme.example');
      expect(part).toContain(approval.packets[0].action.params.body.split('\n')[0]);
      expect(part).toContain('Risk');
      expect(part).toMatch(/Expires: +\w+, \d+ \w+ \d{4} at \d\d:\d\d \(Europe\/Vienna, UTC\+0[12]:00\)/);
    }
    expect(mail!.links).toHaveLength(1);
    expect(mail!.links[0]).toMatch(/\/a\/[0-9a-z]{90}$/);
    expect(mail!.headers.find(({ key }) => key === 'auto-submitted')?.value).toBe('auto-generated');
    const [told] = await eventually(
      () => desk.notifications(owner.memberId),
      ([row]) => row?.status === 'sent',
    );
    expect(told).toMatchObject({ entity_id: approvalId, revision: approval.contentHash });
  });

  it('says the same as text and as HTML, word for word, and loads nothing', async () => {
    const text = `${MAIL}\n\nWrite: "Größe <b>&amp; 5 > 3</b> 👩‍👩‍👧   three spaces".`;
    await desk.desk(owner).handInReady({ text });

    const [mail] = await desk.mailed(owner.email);

    expect(wordsIn(wordsOfHtml(mail!.html!))).toEqual(wordsIn(mail!.text!));
    expect(mail!.html).not.toMatch(/<(img|script|link|iframe|object|svg)\b|src=|@import|url\(/i);
    expect(mail!.html).not.toContain('<b>');
    expect(mail!.html).toContain('prefers-color-scheme:dark');
    expect(mail!.html).toContain('width=device-width');
  });

  it('leaves one receipt that says who was mailed about what', async () => {
    const { approvalId } = await desk.desk(owner).handInReady();
    await desk.mailed(owner.email);

    const receipts = await eventually(
      () =>
        desk.test.rows<{ body: string }>(
          `select body from receipts where workspace_id = $1 and action = 'notification.mailed'`,
          [workspaceId],
        ),
      (rows) => rows.length > 0,
    );

    expect(receipts.map(({ body }) => JSON.parse(body))).toEqual([
      expect.objectContaining({
        actor: expect.objectContaining({ type: 'system' }),
        entity: { type: 'approval', id: approvalId },
        summary: expect.stringMatching(/^owner .* was mailed about "Email jane@acme\.example/),
        details: expect.objectContaining({ memberId: owner.memberId, transport: 'smtp' }),
      }),
    ]);
  });
});

describe('the mail about what an agent asks for', () => {
  it('names the agent and the call; its page shows every parameter whole, and its reason below as its claim', async () => {
    const made = await owner.post('/tokens', {
      name: 'Refunds',
      agent: { name: 'refund-bot' },
      tools: ['crm.*'],
    });
    const properties = { order: { type: 'string' }, note: { type: 'string' } };
    await owner.post('/tools', {
      ...{ name: 'crm.refund', titleTemplate: 'Refund {{order}}', risk: 'low', reversibility: 'reversible' },
      paramsSchema: { type: 'object', properties },
    });
    const params = { order: 'A-17', note: `${'x'.repeat(30_000)} to the end` };
    const agent = new Client(desk.test.url, made.body.token);
    const { body } = await agent.post('/action-requests', {
      ...{ tool: 'crm.refund', params, reason: 'The chief has agreed already.' },
    });

    const [mail] = await desk.mailed(owner.email);
    expect(mail!.subject).toBe('Waits for you: Refund A-17');
    expect(mail!.text).toContain('refund-bot asks in ');
    expect(mail!.text).not.toContain('to the end');
    expect(wordsIn(wordsOfHtml(mail!.html!))).toEqual(wordsIn(mail!.text!));
    const reader = new LinkReader();
    const page = wordsOfHtml((await reader.get(mail!.links[0]!)).text);
    for (const value of Object.values(params)) expect(page).toContain(JSON.stringify(value));
    expect(page.indexOf('The chief has agreed')).toBeGreaterThan(page.indexOf('to the end'));
    expect(page).toContain('If you approve, refund-bot may do exactly this, once');

    const decided = await reader.post(mail!.links[0]!, { decision: 'approve' });
    expect(wordsOfHtml(decided.text)).toContain('The agent may do exactly what you read, once.');
    const { actionRequestId } = body;
    expect((await agent.get(`/action-requests/${actionRequestId}`)).body).toMatchObject({
      status: 'approved',
    });
  });
});

describe('who is mailed', () => {
  it('is whoever may decide: not viewers, not those of another team, not those who left or have no address', async () => {
    const team = await desk.test.createTeam(workspaceId, 'Sales');
    const other = await desk.test.createTeam(workspaceId, 'Support');
    const operator = await desk.member(workspaceId, 'operator', [team]);
    const admin = await desk.member(workspaceId, 'admin');
    const strangers = [
      await desk.member(workspaceId, 'viewer', [team]),
      await desk.member(workspaceId, 'operator', [other]),
      await desk.member(workspaceId, 'operator'),
    ];
    const left = await desk.member(workspaceId, 'operator', [team]);
    await desk.test.rows(`update members set status = 'removed' where member_id = $1`, [left.memberId]);
    const unreachable = await desk.test.createMember(workspaceId, 'operator', [team]);

    await desk.desk(operator).handInReady();
    for (const member of [operator, admin, owner]) await desk.mailed(member.email);
    await desk.quiet();

    for (const member of [...strangers, left]) expect(await desk.mails(member.email)).toEqual([]);
    expect(await desk.notifications(unreachable.memberId)).toEqual([]);
    const others = await desk.workspace();
    expect(await desk.mails(others.owner.email)).toEqual([]);
  });

  it('for what has no team: operators of no team', async () => {
    const team = await desk.test.createTeam(workspaceId, 'Sales');
    const free = await desk.member(workspaceId, 'operator');
    const inTeam = await desk.member(workspaceId, 'operator', [team]);

    await desk.desk(owner).handInReady();
    await desk.mailed(free.email);
    await desk.quiet();

    expect(await desk.mails(inTeam.email)).toEqual([]);
  });

  it('leaves out who asked, where another pair of eyes has to look', async () => {
    const other = await desk.member(workspaceId, 'operator');
    await owner.post('/standing-orders', {
      name: 'Four eyes',
      effect: 'require_approval',
      match: { actionTypes: ['email.send'] },
      approval: { selfApproval: false },
    });

    await desk.desk(owner).handInReady();
    await desk.mailed(other.email);
    await desk.quiet();

    expect(await desk.mails(owner.email)).toEqual([]);
  });
});

describe('each revision', () => {
  it('is mailed once to each, and an edit to everybody but the editor', async () => {
    const other = await desk.member(workspaceId, 'admin');
    const { approvalId, approval } = await desk.desk(owner).handInReady();
    await desk.mailed(owner.email);
    await desk.mailed(other.email);
    const [packet] = approval.packets;
    const params = { ...packet.action.params, subject: 'Thursday' };
    const edited = await desk
      .desk(owner)
      .edit(approvalId, { packets: [{ workPacketId: packet.workPacketId, params }] }, approval.contentHash);
    expect(edited.status, edited.text).toBe(200);

    const mails = await desk.mailed(other.email, 2);
    await desk.quiet();

    expect(mails).toHaveLength(2);
    expect(mails[1]!.text).toContain('Thursday');
    expect(mails[0]!.messageId).not.toBe(mails[1]!.messageId);
    expect(await desk.mails(owner.email)).toHaveLength(1);
  });

  it('is not mailed when it is decided before the mail leaves', async () => {
    await owner.put('/settings', { quietHours: { from: '22:00', to: '07:00' } });
    desk.test.clock.stop(Date.UTC(2026, 1, 18, 23, 30));
    const { approvalId } = await desk.desk(owner).handInReady();
    await eventually(
      () => desk.notifications(owner.memberId),
      (rows) => rows.length === 1,
    );
    expect((await desk.desk(owner).reject(approvalId)).status).toBe(200);

    desk.test.clock.advance(8 * 3_600_000);
    await desk.look();
    await eventually(
      () => desk.notifications(owner.memberId),
      ([row]) => row!.status === 'skipped',
    );

    expect(await desk.mails(owner.email)).toEqual([]);
  });
});
