import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { eventually } from '../../support/test-app.js';
import { MAIL } from '../directives/desk.js';
import { type MailedMember, NotificationDesk } from './notification-desk.js';

let desk: NotificationDesk;
let workspaceId: string;
let owner: MailedMember;
/** What the mail server answers to each mail; undefined takes it. */
let reply: { code: number; text: string } | undefined;

beforeEach(async () => {
  reply = undefined;
  desk = await NotificationDesk.open({
    mail: async () => reply,
    recipient: (address) =>
      address.startsWith('nobody') ? { code: 550, text: 'No such mailbox' } : undefined,
  });
  ({ workspaceId, owner } = await desk.workspace());
});
afterEach(() => desk.close());

const statuses = async (member: MailedMember) =>
  (await desk.notifications(member.memberId)).map(({ status }) => status);

const receipts = (action: string) =>
  desk.test.rows<{ body: string }>('select body from receipts where workspace_id = $1 and action = $2', [
    workspaceId,
    action,
  ]);

/** As many directives and approvals as that, copies of one that waits, each planned as one that became ready. */
async function copies(
  { approvalId, directiveId }: { approvalId: string; directiveId: string },
  count: number,
) {
  const made = Array.from({ length: count }, () => ({ approval: newId('apr'), directive: newId('dir') }));
  const ids = [made.map(({ approval }) => approval), made.map(({ directive }) => directive)];
  const others = async (table: string) =>
    (
      await desk.test.rows<{ name: string }>(
        `select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped
           and attname not in ('approval_id', 'directive_id')`,
        [table],
      )
    ).map(({ name }) => name);
  const ofDirective = await others('directives');
  await desk.test.rows(
    `insert into directives (directive_id, approval_id, ${ofDirective.join(', ')})
     select n.directive, n.approval, ${ofDirective.map((name) => `d.${name}`).join(', ')}
     from directives d, unnest($2::text[], $3::text[]) n (approval, directive) where d.directive_id = $1`,
    [directiveId, ...ids],
  );
  const ofApproval = await others('approvals');
  await desk.test.rows(
    `insert into approvals (approval_id, directive_id, ${ofApproval.join(', ')})
     select n.approval, n.directive, ${ofApproval.map((name) => `a.${name}`).join(', ')}
     from approvals a, unnest($2::text[], $3::text[]) n (approval, directive) where a.approval_id = $1`,
    [approvalId, ...ids],
  );
  await desk.test.rows(
    `insert into work_items (kind, id, workspace_id, queue, due_at)
     select 'notification.plan', id, $1, $1, now() from unnest($2::text[]) n (id)`,
    [workspaceId, ids[0]],
  );
}

describe('a mail server that cannot take mail now', () => {
  it('keeps no approval waiting, and gets the mail once it can', async () => {
    reply = { code: 451, text: 'Try again later' };
    const { approvalId } = await desk.desk(owner).handInReady();
    await eventually(
      () => desk.notifications(owner.memberId),
      ([row]) => row?.status === 'sending' && row.reason !== null,
    );
    const second = await desk.desk(owner).handInReady();
    await eventually(
      () => desk.notifications(owner.memberId),
      (rows) => rows.length === 2,
    );
    expect((await desk.desk(owner).reject(second.approvalId)).status).toBe(200);
    const tried = desk.mail.received.length;

    reply = undefined;
    await eventually(
      () => statuses(owner),
      (all) => all.includes('sent') && !all.includes('sending'),
    );
    await desk.quiet();

    const mails = (await desk.mails(owner.email)).slice(tried);
    expect(mails).toHaveLength(1);
    expect(await statuses(owner)).toEqual(['sent', 'skipped']);
    // Every try was the same mail, and its link decides.
    expect(new Set((await desk.mails(owner.email)).map(({ messageId }) => messageId)).size).toBe(1);
    const answer = await fetch(mails[0]!.links[0]!, {
      method: 'POST',
      body: new URLSearchParams({ decision: 'approve' }),
    });
    expect(answer.status).toBe(200);
    expect(await desk.desk(owner).approval(approvalId)).toMatchObject({ status: 'approved' });
  });
});

describe('a mail that is refused', () => {
  it('ends with a receipt that says why, and keeps nobody else from being mailed', async () => {
    const admin = await desk.member(workspaceId, 'admin');
    await desk.test.rows(`update users set email = 'nobody@northwind.example' where email = $1`, [
      owner.email,
    ]);
    await desk.desk(admin).handInReady();

    await desk.mailed(admin.email);
    await eventually(
      () => statuses(owner),
      ([status]) => status === 'failed',
    );

    const [row] = await desk.notifications(owner.memberId);
    expect(row!.reason).toContain('No such mailbox');
    const [receipt] = await receipts('notification.mail_failed');
    expect(JSON.parse(receipt!.body)).toMatchObject({
      outcome: 'failure',
      summary: expect.stringContaining('could not be mailed about'),
      details: { error: { code: 'MAIL_REFUSED' } },
    });
  });
});

describe('a process that ends after a mail was sent and before that was written', () => {
  it('sends the same mail again: the same Message-ID, the same link', async () => {
    await desk.desk(owner).handInReady();
    await desk.mailed(owner.email);
    await eventually(
      () => statuses(owner),
      ([status]) => status === 'sent',
    );
    await desk.quiet();
    await desk.test.rows(`update notifications set status = 'sending', ended_at = null`);
    await desk.test.rows(
      `insert into work_items (kind, id, workspace_id, queue, due_at) values ('notification.send', $1, $2, $2, now())`,
      [owner.memberId, workspaceId],
    );

    const [first, second] = await desk.mailed(owner.email, 2);
    await desk.quiet();

    expect(second!.messageId).toBe(first!.messageId);
    expect(second!.links).toEqual(first!.links);
    expect(await desk.mails(owner.email)).toHaveLength(2);
  });
});

describe('a member whom no mail can be made for', () => {
  it('leaves a receipt and a signal, and is mailed in its time what falls due later', async () => {
    desk.test.clock.stop(Date.UTC(2026, 1, 18, 12));
    await owner.put('/profile/notifications', { approvals: 'digest' });
    await desk.desk(owner).handInReady({ text: 'Email anna@acme.example, subject "Hello": Hello Anna.' });
    await eventually(
      () => statuses(owner),
      (all) => all.length === 1,
    );
    reply = { code: 451, text: 'Try again later' };
    desk.test.clock.stop(Date.UTC(2026, 1, 18, 12, 1));
    const urgent = await desk.desk(owner).handInReady({ text: MAIL, priority: 'high' });
    await eventually(
      () => desk.notifications(owner.memberId),
      (rows) => rows.some(({ status, reason }) => status === 'sending' && reason !== null),
    );

    // As after eight attempts that ended in an error nobody foresaw.
    await desk.test.rows(
      `update work_items set failures = 8, due_at = now() where kind = 'notification.send' and id = $1`,
      [owner.memberId],
    );
    await eventually(
      () => statuses(owner),
      (all) => all.includes('failed'),
    );

    expect(await statuses(owner)).toEqual(['waiting', 'failed']);
    expect(
      await desk.test.rows(
        `select failures, due_at > now() + interval '19 hours' as "isTomorrow" from work_items
         where kind = 'notification.send' and id = $1`,
        [owner.memberId],
      ),
    ).toEqual([{ failures: 0, isTomorrow: true }]);
    const failed = await receipts('notification.mail_failed');
    expect(failed.map(({ body }) => JSON.parse(body))).toEqual([
      expect.objectContaining({
        outcome: 'failure',
        entity: { type: 'member', id: owner.memberId },
        summary: expect.stringContaining('could not be mailed about a decision that waits.'),
        details: {
          memberId: owner.memberId,
          approvalIds: [urgent.approvalId],
          escalationIds: [],
          failedDirectiveIds: [],
          total: 1,
          error: { code: 'UNEXPECTED', message: 'An unexpected error occurred.' },
        },
      }),
    ]);
    expect((await owner.get('/signals')).body.items).toMatchObject([
      {
        severity: 'warning',
        title: expect.stringMatching(/^Not mailed: owner .* about a decision that waits$/),
      },
    ]);

    reply = undefined;
    const tried = (await desk.mails(owner.email)).length;
    desk.test.clock.stop(Date.UTC(2026, 1, 19, 8));
    await desk.look();
    const mails = await desk.mailed(owner.email, tried + 1);
    await desk.quiet();

    expect(mails.slice(tried).map(({ text }) => text)).toEqual([
      expect.stringContaining('anna@acme.example'),
    ]);
    expect(await statuses(owner)).toEqual(['sent', 'failed']);
  });
});

describe('something that nobody can be told of', () => {
  it('leaves a receipt and a signal, and can be decided all the same', async () => {
    const { approvalId } = await desk.desk(owner).handInReady();
    await desk.mailed(owner.email);
    await desk.quiet();

    await desk.test.rows(
      `insert into work_items (kind, id, workspace_id, queue, due_at, crashes)
       values ('notification.plan', $1, $2, $2, now(), 3)`,
      [approvalId, workspaceId],
    );
    const failed = await eventually(
      () => receipts('notification.mail_failed'),
      (rows) => rows.length > 0,
    );

    expect(failed.map(({ body }) => JSON.parse(body))).toEqual([
      expect.objectContaining({
        outcome: 'failure',
        entity: { type: 'approval', id: approvalId },
        summary: expect.stringMatching(
          /^Nobody could be mailed about an approval that waits for a decision\. /,
        ),
        details: { error: expect.objectContaining({ code: 'PROCESS_ENDED' }) },
      }),
    ]);
    expect((await owner.get('/signals')).body.items).toMatchObject([
      { severity: 'warning', title: 'Nobody was mailed about an approval that waits for a decision' },
    ]);
    expect((await desk.desk(owner).approve(approvalId)).status).toBe(200);
  });
});

describe('many at once', () => {
  it('become a digest, not as many mails', { timeout: 120_000 }, async () => {
    const admin = await desk.member(workspaceId, 'admin');
    const ready = await desk.desk(owner).handInReady();
    await desk.mailed(owner.email);
    await copies(ready, 250);

    await eventually(
      () => desk.test.rows(`select 1 from work_items where kind = 'notification.plan'`),
      (rows) => rows.length === 0,
      100,
    );
    await eventually(
      () => desk.test.rows(`select 1 from work_items where kind = 'notification.send' and claimed`),
      (rows) => rows.length === 0,
    );

    for (const member of [owner, admin]) {
      const mails = await desk.mails(member.email);
      expect(mails.length).toBeLessThanOrEqual(12);
      expect(await statuses(member)).toHaveLength(251);
      // What did not stand in the first digest stands in the next.
      desk.test.clock.advance(15 * 60_000);
      await desk.look();
      await eventually(
        () => statuses(member),
        (all) => all.every((status) => status === 'sent'),
      );
      const all = await desk.mails(member.email);
      const digest = all.at(-1)!;
      expect(all.length).toBeLessThanOrEqual(mails.length + 1);
      expect(digest.subject).toMatch(/^\d+ (or more )?decisions wait for you( \(\d+ new\))?$/);
      expect(digest.links).toHaveLength(20);
      expect(Buffer.byteLength(digest.html!)).toBeLessThan(100_000);
      const told = await receipts('notification.mailed');
      expect(told.length).toBeLessThanOrEqual(30);
    }
  });
});
