import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MAIL } from '../directives/desk.js';
import { LinkReader, type MailedMember, NotificationDesk } from './notification-desk.js';

let desk: NotificationDesk;
let owner: MailedMember;
let operator: MailedMember;
let workspaceId: string;
const reader = new LinkReader();

beforeAll(async () => {
  desk = await NotificationDesk.open();
});
afterAll(() => desk.close());
beforeEach(async () => {
  ({ workspaceId, owner } = await desk.workspace());
  operator = await desk.member(workspaceId, 'operator');
});

const choices = async () => (await operator.get('/profile/notifications')).body.effective;
const receipts = () =>
  desk.test.rows<{ body: string }>(
    `select body from receipts where workspace_id = $1 and action = 'notifications.chosen' order by seq`,
    [workspaceId],
  );

/** The link in the header of the next digest to the operator. */
async function digestLink(): Promise<string> {
  expect((await operator.put('/profile/notifications', { approvals: 'digest' })).status).toBe(200);
  for (const n of [1, 2]) await desk.desk(owner).handInReady({ text: `${MAIL} ${n}` });
  await desk.quiet();
  await desk.test.rows('update notifications set due_at = now() where member_id = $1', [operator.memberId]);
  await desk.look();
  const [mail] = await desk.mailed(operator.email);
  const list = mail!.headers.find(({ key }) => key === 'list-unsubscribe')!.value;
  const [, url] = /^<(http[^>]+)>$/.exec(list)!;
  expect(mail!.text).toContain(`<${url}>`);
  return url!;
}

describe('the link that ends digests', () => {
  it('changes nothing when it is opened, and asks for no sign-in and no script', async () => {
    const url = await digestLink();
    const before = await receipts();
    for (let opened = 0; opened < 3; opened++) {
      const { status, headers, text } = await reader.get(url);
      expect([status, text]).toEqual([200, expect.stringContaining('Stop these mails')]);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('cache-control')).toBe('no-store');
      expect(text).not.toContain('<script');
    }
    expect(await choices()).toMatchObject({ approvals: 'digest', escalations: 'all' });
    expect(await receipts()).toEqual(before);
  });

  it.each<[string, () => RequestInit]>([
    ['a form', () => ({ body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) })],
    [
      'a form of several parts',
      () => {
        const body = new FormData();
        body.append('List-Unsubscribe', 'One-Click');
        return { body };
      },
    ],
    ['nothing', () => ({})],
  ])('ends them at one click of a mail program, which posts %s, once', async (_what, request) => {
    const url = await digestLink();
    const count = (await receipts()).length;
    for (let posted = 0; posted < 2; posted++)
      expect((await fetch(url, { method: 'POST', ...request() })).status).toBe(200);
    expect(await choices()).toMatchObject({ approvals: 'none', escalations: 'none', reports: 'all' });
    const added = (await receipts()).slice(count).map(({ body }) => JSON.parse(body));
    expect(added).toMatchObject([
      { actor: { id: operator.memberId, via: 'link' }, details: { new: { approvals: 'none' } } },
    ]);

    const before = (await desk.mails(operator.email)).length;
    await desk.desk(owner).handInReady({ text: `${MAIL} Urgently.`, priority: 'high' });
    await desk.mailed(owner.email);
    await desk.quiet();
    expect(await desk.mails(operator.email)).toHaveLength(before);
  });

  it('says how they begin again, and begins them again', async () => {
    const url = await digestLink();
    const ended = await reader.post(url, { choice: 'none' });
    expect(ended.text).toContain('You are not mailed what waits for you');
    expect(ended.text).toContain('Mail me these again');
    expect((await reader.post(url, { choice: 'urgent' })).text).toContain('only what is urgent');
    expect(await choices()).toMatchObject({ approvals: 'urgent', escalations: 'urgent' });
    expect((await reader.post(url, { choice: 'all' })).text).toContain('You are mailed what waits for you');
    expect(await choices()).toMatchObject({ approvals: 'all', escalations: 'all' });
  });

  it('opens nothing else, and nothing for a member who has left', async () => {
    const url = await digestLink();
    const at = url.lastIndexOf('/') + 1;
    const other = owner.memberId.slice(4);
    const forged = [
      `${url.slice(0, at)}r${url.slice(at + 1)}`,
      `${url.slice(0, at + 27)}${other}${url.slice(at + 53)}`,
      `${url.slice(0, -1)}${url.endsWith('0') ? '1' : '0'}`,
      url.slice(0, -1),
    ];
    for (const one of forged) {
      expect((await reader.get(one)).status, one).toBe(404);
      expect((await reader.post(one, {})).status, one).toBe(404);
    }
    const headers = { 'Content-Type': 'multipart/form-data; boundary=x' };
    expect((await fetch(url, { method: 'POST', headers, body: '--y\r\n' })).status).toBe(422);
    expect(await choices()).toMatchObject({ approvals: 'digest' });
    expect(JSON.stringify(desk.test.logs)).not.toContain(url.slice(at));
    expect((await owner.delete(`/members/${operator.memberId}`)).status).toBeLessThan(300);
    for (const answer of [await reader.get(url), await reader.post(url, {})])
      expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('not a member')]);
  });
});

describe('the link that ends reports', () => {
  it('ends them for the member alone, and stands in no mail to an address that is no member’s', async () => {
    await desk.test.rows(
      `update workspaces set created_at = now() - interval '9 days' where workspace_id = $1`,
      [workspaceId],
    );
    const mailTo = async (emailAddress: string, reportId: string) => {
      const delivery = { email: true, emailAddress };
      expect((await owner.put('/reports/config', { delivery })).status).toBe(200);
      expect((await owner.post(`/reports/${reportId}/resend`, {})).status).toBe(202);
      return (await desk.mailed(emailAddress))[0]!;
    };
    const [first, second] = await Promise.all(
      [3, 4].map(async (days) => {
        const date = new Date(desk.test.clock.now() - days * 86_400_000).toISOString().slice(0, 10);
        return (await owner.get(`/reports/daily?date=${date}`)).body.reportId as string;
      }),
    );
    const toStranger = await mailTo('boss@acme.example', first!);
    expect(toStranger.headers.map(({ key }) => key)).not.toContain('list-unsubscribe');
    expect(toStranger.text).not.toContain('/unsubscribe/');
    const { headers, text } = await mailTo(operator.email, second!);
    const [, url] = /^<(.+)>$/.exec(headers.find(({ key }) => key === 'list-unsubscribe')!.value)!;
    expect(text).toContain(`<${url}>`);
    expect((await reader.post(url!, {})).text).toContain('You are mailed no Daily Report');
    expect(await choices()).toMatchObject({ reports: 'none', approvals: 'all' });
  });
});

describe('what carries no such link', () => {
  it('a mail about one thing, and one about a kill', async () => {
    await desk.desk(owner).handInReady({ text: MAIL });
    await desk.mailed(owner.email);
    await desk.desk(owner).kill('Stop.');
    const mails = await desk.mailed(owner.email, 2);
    for (const { headers, text } of mails) {
      expect(headers.map(({ key }) => key).filter((key) => key.startsWith('list-'))).toEqual([]);
      expect(text).not.toContain('/unsubscribe/');
    }
  });
});
