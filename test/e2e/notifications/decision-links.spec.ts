import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MAIL } from '../directives/desk.js';
import { eventually } from '../../support/test-app.js';
import { LinkReader, type MailedMember, NotificationDesk, wordsOfHtml } from './notification-desk.js';

let desk: NotificationDesk;
let workspaceId: string;
let owner: MailedMember;
let browser: LinkReader;
beforeAll(async () => {
  desk = await NotificationDesk.open();
});
beforeEach(async () => {
  desk.test.clock.goOn();
  browser = new LinkReader();
  ({ workspaceId, owner } = await desk.workspace());
});
afterAll(() => desk.close());

/** A draft that waits, with the link that a member was mailed. */
async function linked(member: MailedMember = owner, body: object = { text: MAIL }) {
  const ready = await desk.desk(owner).handInReady(body);
  const mails = await desk.mailed(member.email);
  return { ...ready, link: mails.at(-1)!.links[0]! };
}

/** All that a decision would change. */
async function state(approvalId: string) {
  const [approval] = await desk.test.rows('select * from approvals where approval_id = $1', [approvalId]);
  const links = await desk.test.rows('select * from decision_links where approval_id = $1 order by link_id', [
    approvalId,
  ]);
  const packets = await desk.test.rows('select status from work_packets where directive_id = $1', [
    approval!['directive_id'],
  ]);
  return { approval, links, packets };
}

async function expectRefused(link: string, approvalId: string, status: number, words: RegExp) {
  const before = await state(approvalId);
  const shown = await browser.get(link);
  const posted = await browser.post(link, { decision: 'approve' });
  const rejected = await browser.post(link, { decision: 'reject', feedback: 'No.' });
  for (const answer of [shown, posted, rejected]) {
    expect([answer.status, wordsOfHtml(answer.text)]).toEqual([status, expect.stringMatching(words)]);
    expect(answer.text).not.toContain('<form');
  }
  expect(await state(approvalId)).toEqual(before);
}

describe('GET /a/:token 200', () => {
  it('shows the complete draft with one form, and changes nothing however often it is opened', async () => {
    const { link, approvalId, approval } = await linked();
    // The receipt of the mail is written behind it.
    await desk.quiet();
    const before = await state(approvalId);
    const receipts = 'select count(*)::int as n from receipts where workspace_id = $1';
    const [{ n }] = (await desk.test.rows<{ n: number }>(receipts, [workspaceId])) as [{ n: number }];

    const answers = [await browser.get(link), await browser.get(link), await browser.get(link)];

    for (const { status, text } of answers) {
      expect(status).toBe(200);
      for (const words of [
        'jane@acme.example',
        approval.packets[0].action.params.subject,
        'If you approve',
        'cannot be taken back',
        'Expires',
      ])
        expect(wordsOfHtml(text)).toContain(words);
      expect(text.match(/<form method="post">/g)).toHaveLength(1);
      expect(text).toMatch(/<textarea id="feedback" name="feedback" required/);
      expect(text).not.toContain('<script');
    }
    expect(await state(approvalId)).toEqual(before);
    expect(await desk.test.rows(receipts, [workspaceId])).toEqual([{ n }]);
  });

  it('tells nobody its address, is kept nowhere, and may run and load nothing', async () => {
    const { link } = await linked();

    const { headers } = await browser.get(link);

    expect(Object.fromEntries(headers)).toMatchObject({
      'referrer-policy': 'strict-origin',
      'cache-control': 'no-store',
      'content-type': 'text/html; charset=utf-8',
      'x-robots-tag': 'noindex, nofollow',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
      ),
    });
  });

  it('shows texts of others as text, however long', async () => {
    const hostile = `<script>alert(1)</script></textarea><img src=x> "quoted" & 👩‍👩‍👧`;
    const context = {
      to: 'jane@acme.example',
      subject: 'Long',
      body: `${hostile} ${'word '.repeat(6_000)}end of it`,
    };
    const { link } = await linked(owner, { text: 'Send this to the customer.', context });
    const [mail] = await desk.mails(owner.email);

    const { text: page } = await browser.get(link);

    expect(page).not.toMatch(/<script|<img/);
    expect(wordsOfHtml(page)).toContain('end of it');
    expect(mail!.text).toContain('[…]');
    expect(mail!.text).toContain('This mail does not show all of it');
    expect(page).not.toContain('This mail does not show all of it');
  });
});

describe('GET /a/:token 200, with characters that cannot be seen', () => {
  it('marks them in the title, in the page and in its mail', async () => {
    const { link, approvalId } = await linked();
    await desk.test.rows(
      `update approvals set title = $2, packets = jsonb_set(packets, '{0,title}', to_jsonb($2::text)) where approval_id = $1`,
      [approvalId, 'Pay \u202eelpmaxe.emca for 👩‍👩‍👧'],
    );

    const { text } = await browser.get(link);

    expect(text).not.toContain('\u202e');
    expect(text.match(/Pay \[U\+202E\]elpmaxe\.emca for 👩‍👩‍👧/g)!.length).toBeGreaterThan(3);
    const spoken = 'Send this\u202e to the customer.';
    const context = { to: 'jane@acme.example', subject: 'Long', body: 'Hello.' };
    await linked(owner, { text: spoken, context });
    const mails = await desk.mailed(owner.email, 2);
    const mail = mails.find(({ subject }) => subject?.includes('Send this[U+202E] to the customer.'))!;
    const page = await browser.get(mail.links[0]!);
    for (const shown of [page.text, mail.text, mail.html]) {
      expect(shown).toContain('[U+202E]');
      expect(shown).not.toContain('\u202e');
    }
  });
});

describe('POST /a/:token 200', () => {
  it('approves as the member whom it was mailed to, via the link, once', async () => {
    const { link, approvalId, directiveId } = await linked();

    const answer = await browser.post(link, { decision: 'approve' });

    expect([answer.status, wordsOfHtml(answer.text)]).toEqual([200, expect.stringContaining('Approved')]);
    expect(await desk.desk(owner).approval(approvalId)).toMatchObject({
      status: 'approved',
      decidedVia: 'link',
      decidedBy: { type: 'member', id: owner.memberId, via: 'link' },
    });
    await desk.desk(owner).until(directiveId, 'executed');
    expect(desk.mail.received.filter(({ to }) => to.includes('jane@acme.example')).length).toBeGreaterThan(0);
    await expectRefused(link, approvalId, 410, /works once\. You approved the draft with it on/);
  });

  it('rejects with the reason', async () => {
    const { link, approvalId, directiveId } = await linked();

    const answer = await browser.post(link, { decision: 'reject', feedback: 'Not on a Friday.' });

    expect([answer.status, wordsOfHtml(answer.text)]).toEqual([200, expect.stringContaining('Rejected')]);
    expect(await desk.desk(owner).approval(approvalId)).toMatchObject({
      status: 'rejected',
      feedback: 'Not on a Friday.',
      decidedVia: 'link',
    });
    expect(await desk.desk(owner).directive(directiveId)).toMatchObject({ status: 'rejected' });
    await expectRefused(link, approvalId, 410, /You rejected the draft with it on/);
  });

  it('decides once of twenty at the same time', async () => {
    const { link, approvalId } = await linked();

    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        new LinkReader().post(
          link,
          i % 2 ? { decision: 'approve' } : { decision: 'reject', feedback: 'No.' },
        ),
      ),
    );

    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 410)]);
    const decided = await desk.test.rows(
      `select action from receipts where entity_id = $1 and action in ('approval.approved', 'approval.rejected')`,
      [approvalId],
    );
    expect(decided).toHaveLength(1);
  });

  it('is taken from its own page, of which the browser names no origin', async () => {
    const { link } = await linked();

    const headers = { Origin: 'null', 'Sec-Fetch-Site': 'same-origin' };
    expect((await browser.post(link, { decision: 'approve' }, headers)).status).toBe(200);
  });
});

describe('POST /a/:token 403', () => {
  it.each<[string, Record<string, string>]>([
    ['names another origin', { Origin: 'https://evil.example' }],
    ['hides its origin', { Origin: 'null' }],
    ['comes from another site', { Origin: 'null', 'Sec-Fetch-Site': 'cross-site' }],
    ['comes from another host of the site', { 'Sec-Fetch-Site': 'same-site' }],
  ])('refuses a form that %s', async (_what, headers) => {
    const { link, approvalId } = await linked();
    const before = await state(approvalId);

    const answer = await browser.post(link, { decision: 'approve' }, headers);

    expect([answer.status, wordsOfHtml(answer.text)]).toEqual([403, expect.stringContaining('another site')]);
    expect(await state(approvalId)).toEqual(before);
  });

  it('refuses a member who has left', async () => {
    const operator = await desk.member(workspaceId, 'operator');
    const { link, approvalId } = await linked(operator);
    expect((await owner.delete(`/members/${operator.memberId}`)).status).toBe(200);

    await expectRefused(link, approvalId, 403, /You are not a member of .* any more/);
  });

  it('refuses a link from before its member was removed, after the same person has joined again', async () => {
    const email = 'comes-and-goes@northwind.example';
    const newest = async (part: string) => {
      const links = (mails: Awaited<ReturnType<typeof desk.mails>>) =>
        mails.flatMap(({ text }) => new RegExp(`https?://[^>\\s]+${part}[^>\\s]+`).exec(text!) ?? []);
      const before = links(await desk.mails(email)).length;
      return () =>
        eventually(
          async () => links(await desk.mails(email)),
          (all) => all.length > before,
        ).then((all) => all.at(-1)!);
    };
    const join = async () => {
      const invite = await newest('/invites/');
      expect((await owner.post('/members', { email, role: 'operator' })).status).toBe(201);
      const form = { displayName: 'Jo Lind', password: 'nineteen pears on a slow train' };
      expect((await browser.post(await invite(), form)).status).toBe(200);
    };
    const handIn = async () => {
      const link = await newest('/a/');
      const { approvalId } = await desk.desk(owner).handInReady({ text: MAIL });
      return { approvalId, link: await link() };
    };
    await join();
    const { approvalId, link } = await handIn();
    const [member] = await desk.test.rows<{ member_id: string }>(
      'select member_id from members join users using (user_id) where email = $1',
      [email],
    );
    expect((await owner.delete(`/members/${member!.member_id}`)).status).toBe(200);
    desk.test.clock.advance(1_000);
    await join();

    await expectRefused(link, approvalId, 403, /from before you joined/);
    // A new one works.
    const next = await handIn();
    expect((await browser.post(next.link, { decision: 'approve' })).status).toBe(200);
  });

  it('refuses a member who has lost the role', async () => {
    const operator = await desk.member(workspaceId, 'operator');
    const { link, approvalId } = await linked(operator);
    await desk.test.rows(`update members set role = 'viewer' where member_id = $1`, [operator.memberId]);

    await expectRefused(link, approvalId, 403, /You may not decide this any more/);
  });

  it('refuses a member who is in another team by now', async () => {
    const team = await desk.test.createTeam(workspaceId, 'Sales');
    const operator = await desk.member(workspaceId, 'operator', [team]);
    const { link, approvalId } = await linked(operator, { text: MAIL, teamId: team });
    await desk.test.rows('delete from team_members where member_id = $1', [operator.memberId]);

    await expectRefused(link, approvalId, 403, /You may not decide this any more/);
  });

  it('refuses to approve what is dangerous for an account that has a second factor, and rejects it', async () => {
    const { link, approvalId } = await linked();
    await owner.put('/settings', { secondFactor: 'required' });
    await desk.test.rows(`update approvals set risk = 'critical' where approval_id = $1`, [approvalId]);
    const before = await state(approvalId);

    const shown = await browser.get(link);
    const approved = await browser.post(link, { decision: 'approve' });

    expect([shown.status, approved.status]).toEqual([200, 403]);
    expect(shown.text.match(/<form/g)).toHaveLength(1);
    for (const { text } of [shown, approved])
      expect(wordsOfHtml(text)).toContain('Its risk is critical, and a link is one factor only');
    expect(await state(approvalId)).toEqual(before);
    expect((await browser.post(link, { decision: 'reject', feedback: 'No.' })).status).toBe(200);
  });

  it('refuses who asked, where another pair of eyes has to look', async () => {
    const { link, approvalId } = await linked();
    await desk.test.rows('update approvals set self_approval = false where approval_id = $1', [approvalId]);
    const before = await state(approvalId);

    const answer = await browser.post(link, { decision: 'approve' });

    expect([answer.status, wordsOfHtml(answer.text)]).toEqual([
      403,
      expect.stringContaining('someone other than'),
    ]);
    expect(await state(approvalId)).toEqual(before);
  });
});

describe('/a/:token 404', () => {
  it('answers a stranger who guesses, whether there is such a link or not', async () => {
    const { link, approvalId } = await linked();
    const before = await state(approvalId);
    const token = link.split('/a/')[1]!;
    const wrong = [
      token.slice(0, -1) + (token.endsWith('0') ? '1' : '0'),
      token.slice(0, 26) + '0'.repeat(64),
      '0'.repeat(26) + token.slice(26),
      token.slice(0, 26),
      `${token}0`,
      'x',
      '%00',
      '..%2f',
    ].map((one) => link.replace(token, one));

    const answers = [];
    for (const url of wrong)
      answers.push(await browser.get(url), await browser.post(url, { decision: 'approve' }));

    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
    expect(new Set(answers.slice(0, 8).map(({ text }) => text)).size).toBe(1);
    expect(await state(approvalId)).toEqual(before);
  });

  it.each([
    'feedback',
    'x.params.subject',
    ...['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__', '__defineGetter__'].map(
      (name) => `x.params.${name}`,
    ),
  ])('shows nothing of what a stranger sends as %s', async (name) => {
    const nowhere = `${desk.test.url}/a/${'0'.repeat(90)}`;
    const form = { [name]: 'Call us today', decision: 'save' };
    for (const origin of [desk.test.url, 'https://elsewhere.example']) {
      const answer = await browser.post(nowhere, form, { Origin: origin });
      expect([answer.status, answer.text]).toEqual([404, expect.not.stringContaining('Call us')]);
    }
  });

  it('answers a link whose row somebody has bound to another member, approval or content', async () => {
    const other = await desk.member(workspaceId, 'admin');
    const { link, approvalId } = await linked();
    const { links } = await state(approvalId);
    const own = links.find((each) => each['member_id'] === owner.memberId)!;
    const key = [own['link_id']];
    for (const [column, value] of [
      ['member_id', other.memberId],
      ['content_hash', '0'.repeat(64)],
    ]) {
      await desk.test.rows(`update decision_links set ${column} = $2 where link_id = $1`, [...key, value]);
      expect((await browser.post(link, { decision: 'approve' })).status).toBe(404);
      await desk.test.rows(`update decision_links set ${column} = $2 where link_id = $1`, [
        ...key,
        own[column!],
      ]);
    }
    expect((await browser.get(link)).status).toBe(200);
  });
});

describe('/a/:token 409', () => {
  it('says who has decided already', async () => {
    const other = await desk.member(workspaceId, 'admin');
    const { link, approvalId } = await linked();
    await desk.desk(other).reject(approvalId);

    await expectRefused(link, approvalId, 409, /admin \w+ rejected it on \w+, \d+ \w+ \d{4}/);
  });

  it('asks for what is missing before it approves', async () => {
    const { link, approvalId, approval } = await linked(owner, {
      text: 'Email jane@acme.example about the delivery.',
    });
    expect(approval.inputsNeeded).toBeGreaterThan(0);
    const [packet] = approval.packets;
    const before = await state(approvalId);

    const shown = await browser.get(link);
    const answer = await browser.post(link, { decision: 'approve' });

    for (const { text } of [shown, answer]) {
      const words = wordsOfHtml(text);
      expect(words).toContain(`Text, in “${packet.title}”: Write the text`);
      expect(words).toContain('Fill in what is missing, or tick what is right as it stands, and save.');
      expect(text).not.toContain('value="approve"');
      // What a program is told: parameters, methods and paths.
      expect(words).not.toMatch(/params|confirm|PATCH|\/approvals\b/);
      expect(text.match(/<form/g)).toHaveLength(1);
    }
    expect([shown.status, answer.status]).toEqual([200, 409]);
    expect(wordsOfHtml(answer.text)).toContain('It was not approved.');
    const [mail] = await desk.mails(owner.email);
    expect(mail!.text).toContain(`- Text, in “${packet.title}”: Write the text`);
    expect(await state(approvalId)).toEqual(before);
  });
});

describe('/a/:token 410', () => {
  it('is gone with the time to decide', async () => {
    const { link, approvalId, approval } = await linked();
    desk.test.clock.stop(approval.expiresAt + 1);

    await expectRefused(link, approvalId, 410, /The time to decide was over on/);
  });
});

describe('/a/:token 412', () => {
  it('does not decide on a draft that has been edited since, not even by rejecting it', async () => {
    const { link, approvalId, approval } = await linked();
    const [packet] = approval.packets;
    const params = { ...packet.action.params, subject: 'Thursday' };
    await desk
      .desk(owner)
      .edit(approvalId, { packets: [{ workPacketId: packet.workPacketId, params }] }, approval.contentHash);

    await expectRefused(link, approvalId, 412, /has been edited since this link was made/);
  });
});

describe('/a/:token 422', () => {
  it.each<[string, Record<string, string> | string, string]>([
    ['a rejection without a reason', { decision: 'reject' }, 'The reason must not be empty'],
    ['a blank reason', { decision: 'reject', feedback: ' \n ' }, 'The reason must not be empty'],
    [
      'a reason of 10,001 characters',
      { decision: 'reject', feedback: 'x'.repeat(10_001) },
      'The reason must be at most 10,000 characters long',
    ],
    [
      'a reason that nobody sees',
      { decision: 'reject', feedback: '\u200b\u2060' },
      'The reason must contain',
    ],
    ['neither of the two', {}, 'Choose one of these'],
    ['another decision', { decision: 'approve ' }, 'Choose one of these'],
    [
      'an approval with a reason',
      { decision: 'approve', feedback: 'Stop: the price is wrong.' },
      'You wrote a reason and pressed Approve',
    ],
    [
      'two decisions',
      'decision=reject&feedback=Stop&decision=approve',
      'The form has two values for one field',
    ],
    ['the same decision twice', 'decision=approve&decision=approve', 'The form has two values for one field'],
    ['two reasons', 'decision=reject&feedback=Stop&feedback=Go+on', 'The form has two values for one field'],
  ])('shows the page again for %s', async (_what, form, words) => {
    const { link, approvalId } = await linked();
    const before = await state(approvalId);

    const answer = await browser.post(link, form);

    expect([answer.status, wordsOfHtml(answer.text)]).toEqual([422, expect.stringContaining(words)]);
    expect(answer.text.match(/<form/g)).toHaveLength(1);
    for (const [name, typed] of new URLSearchParams(form)) {
      if (name === 'feedback' && typed.trim() !== '') expect(answer.text).toContain(typed);
    }
    expect(await state(approvalId)).toEqual(before);
  });
});

describe('/a/:token 423', () => {
  it('approves nothing while the kill switch is engaged, says so, and works after the revert', async () => {
    const { link, approvalId } = await linked();
    await desk.desk(owner).kill();
    const before = await state(approvalId);

    const shown = await browser.get(link);
    const answer = await browser.post(link, { decision: 'approve' });

    expect([shown.status, wordsOfHtml(shown.text)]).toEqual([
      200,
      expect.stringContaining('The kill switch is engaged'),
    ]);
    expect(shown.text.match(/<form/g)).toHaveLength(1);
    expect(answer.status).toBe(423);
    expect(await state(approvalId)).toEqual(before);

    await desk.desk(owner).revert();
    expect((await browser.post(link, { decision: 'approve' })).status).toBe(200);
  });

  it('rejects while the kill switch is engaged', async () => {
    const { link } = await linked();
    await desk.desk(owner).kill();

    expect((await browser.post(link, { decision: 'reject', feedback: 'No.' })).status).toBe(200);
  });
});

describe('/a/:token 429', () => {
  it('answers one address so many times a minute', async () => {
    const { link } = await linked();
    desk.test.clock.stopAtMinute();

    const statuses = [];
    for (let i = 0; i < 31; i++)
      statuses.push((await browser.post(`${link}0`, { decision: 'approve' })).status);

    expect(statuses).toEqual([...Array.from({ length: 30 }, () => 404), 429]);
  });
});

describe('what is logged', () => {
  it('never holds a link', async () => {
    const { link } = await linked();
    await browser.get(link);
    await browser.post(link, { decision: 'approve' });

    const token = link.split('/a/')[1]!;
    expect(JSON.stringify(desk.test.logs)).not.toContain(token);
    expect(JSON.stringify(desk.test.logs)).not.toContain(token.slice(26));
  });
});
