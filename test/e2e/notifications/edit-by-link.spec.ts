import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Client } from '../../support/client.js';
import { MAIL } from '../directives/desk.js';
import { formOf, LinkReader, type MailedMember, NotificationDesk, wordsOfHtml } from './notification-desk.js';

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

const UNWRITTEN = { text: 'Email jane@acme.example about the delivery.' };
const TEXT = 'Hello Jane,\n\nthe delivery arrives on Friday.\n\nKind regards';

/** A draft that waits, its page, and the form on it. */
async function opened(member: MailedMember = owner, body: object = { text: MAIL }) {
  const ready = await desk.desk(owner).handInReady(body);
  const link = (await desk.mailed(member.email)).at(-1)!.links[0]!;
  const page = await browser.get(link);
  const packetId: string = ready.approval.packets[0].workPacketId;
  return {
    ...ready,
    link,
    page,
    field: (name: string) => `${packetId}.params.${name}`,
    ...formOf(page, link),
  };
}

async function state(approvalId: string) {
  return {
    approval: await desk.test.rows('select * from approvals where approval_id = $1', [approvalId]),
    links: await desk.test.rows('select * from decision_links where approval_id = $1 order by link_id', [
      approvalId,
    ]),
    receipts: await desk.test.rows(`select action from receipts where entity_id = $1 order by seq`, [
      approvalId,
    ]),
  };
}

describe('POST /a/:token with "save" 200', () => {
  it('completes a draft without text, and approves by the link that the answer holds', async () => {
    const { link, fields, field, approvalId, directiveId, approval } = await opened(owner, UNWRITTEN);
    expect(approval.inputsNeeded).toBeGreaterThan(0);
    const sent = {
      ...fields,
      [field('subject')]: 'Your delivery',
      [field('body')]: TEXT.replaceAll('\n', '\r\n'),
    };

    const saved = await browser.post(link, { ...sent, decision: 'save' });

    expect([saved.status, wordsOfHtml(saved.text)]).toEqual([
      200,
      expect.stringContaining('Saved. Nothing is approved'),
    ]);
    const edited = await desk.desk(owner).approval(approvalId);
    expect(edited).toMatchObject({ status: 'pending', inputsNeeded: 0 });
    expect(edited.packets[0].action.params).toEqual({
      to: ['jane@acme.example'],
      subject: 'Your delivery',
      body: TEXT,
    });
    expect(edited.revisions.at(-1).by).toMatchObject({ id: owner.memberId, via: 'link' });
    const { links, receipts } = await state(approvalId);
    expect(receipts.at(-1)).toEqual({ action: 'approval.edited' });
    const own = links.filter((each) => each['member_id'] === owner.memberId);
    expect(own.map((each) => [each['content_hash'], each['decision']])).toEqual(
      expect.arrayContaining([
        [approval.contentHash, 'edit'],
        [edited.contentHash, null],
      ]),
    );
    const next = formOf(saved, link);
    expect(next.url).not.toBe(link);
    expect((await browser.get(link)).status).toBe(410);

    const approved = await browser.post(next.url, { ...next.fields, decision: 'approve' });

    expect([approved.status, wordsOfHtml(approved.text)]).toEqual([200, expect.stringContaining('Approved')]);
    await desk.desk(owner).until(directiveId, 'executed');
    const received = desk.mail.received.filter(({ to }) => to.includes('jane@acme.example')).at(-1)!;
    expect(received.bytes.toString()).toContain('the delivery arrives on Friday.');
  });

  it('changes the recipients and adds a copy', async () => {
    const { link, fields, field, approvalId } = await opened();
    const lists = {
      [field('to')]: 'jo@acme.example, jane@acme.example',
      [field('cc')]: 'li@acme.example\r\n',
    };

    expect((await browser.post(link, { ...fields, ...lists, decision: 'save' })).status).toBe(200);

    expect((await desk.desk(owner).approval(approvalId)).packets[0].action.params).toMatchObject({
      to: ['jo@acme.example', 'jane@acme.example'],
      cc: ['li@acme.example'],
    });
  });

  it('changes what an agent asks for, and the title that is made of it; what the tool refuses stands at its field', async () => {
    await owner.post('/tools', {
      name: 'pay.refund',
      paramsSchema: {
        type: 'object',
        properties: { order: { type: 'string' }, amount: { type: 'number', maximum: 1000 } },
        required: ['order', 'amount'],
      },
      titleTemplate: 'Refund {{amount}} for {{order}}',
      risk: 'low',
      reversibility: 'reversible',
    });
    const bot = await owner.post('/tokens', { name: 'Refunds', agent: { name: 'bot' }, tools: ['pay.*'] });
    const asked = await new Client(desk.test.url, bot.body.token).post('/action-requests', {
      tool: 'pay.refund',
      params: { order: 'A-1', amount: 900 },
    });
    expect(asked.status, JSON.stringify(asked.body)).toBe(201);
    const link = (await desk.mailed(owner.email)).at(-1)!.links[0]!;
    const { fields } = formOf(await browser.get(link), link);
    const amount = `${asked.body.actionRequestId}.params.amount`;
    expect(fields[amount]).toBe('900');
    const refused = await browser.post(link, { ...fields, [amount]: '5000', decision: 'save' });
    expect([refused.status, formOf(refused, link).fields[amount]]).toEqual([422, '5000']);
    expect(refused.text).toMatch(/<span class="fault">[^<]*1000/);
    const saved = await browser.post(link, { ...fields, [amount]: '90', decision: 'save' });
    expect([saved.status, wordsOfHtml(saved.text)]).toEqual([200, expect.stringContaining('Saved. Nothing')]);
    const approval = await desk.desk(owner).approval(asked.body.approvalId);
    expect(approval).toMatchObject({
      title: 'Refund 90 for A-1',
      summary: expect.stringContaining('Refund 90'),
    });
    expect(approval.packets[0]).toMatchObject({
      title: 'Refund 90 for A-1',
      action: { params: { order: 'A-1', amount: 90 } },
    });
    const next = formOf(saved, link);
    expect((await browser.post(next.url, { ...next.fields, decision: 'approve' })).status).toBe(200);
    const { body } = await owner.get(`/action-requests/${asked.body.actionRequestId}`);
    expect(body).toMatchObject({
      status: 'approved',
      title: 'Refund 90 for A-1',
      decision: { params: { amount: 90 } },
    });
  });

  it('takes the same form twice, and answers with the same link', async () => {
    const { link, fields, field, approvalId } = await opened();
    const sent = { ...fields, [field('subject')]: 'On Friday', decision: 'save' };

    const [one, two] = await Promise.all([browser.post(link, sent), browser.post(link, sent)]);

    expect([one.status, two.status]).toEqual([200, 200]);
    expect(formOf(one, link).url).toBe(formOf(two, link).url);
    expect((await desk.desk(owner).approval(approvalId)).revisions).toHaveLength(2);
    // Nobody who has the used link alone is given the next one.
    for (const form of [{ decision: 'save' }, { ...sent, [field('subject')]: 'On Monday' }]) {
      const answer = await browser.post(link, form);
      expect([answer.status, answer.text.includes('<form')]).toEqual([410, false]);
      expect(wordsOfHtml(answer.text)).toContain('You saved changes of the draft with it');
    }
  });

  it('saves what was typed beside "approve" before anything is approved', async () => {
    const { link, fields, field, approvalId } = await opened();

    const answer = await browser.post(link, {
      ...fields,
      [field('subject')]: 'On Friday',
      decision: 'approve',
    });

    expect([answer.status, wordsOfHtml(answer.text)]).toEqual([
      200,
      expect.stringContaining('Nothing is approved yet'),
    ]);
    expect(await desk.desk(owner).approval(approvalId)).toMatchObject({ status: 'pending' });
  });

  it('changes nothing by a form that nobody has touched', async () => {
    const { link, fields, approvalId } = await opened();
    await desk.quiet();
    const before = await state(approvalId);

    const answer = await browser.post(link, { ...fields, decision: 'save' });

    expect([answer.status, wordsOfHtml(answer.text)]).toEqual([
      200,
      expect.stringContaining('Nothing was changed'),
    ]);
    expect(await state(approvalId)).toEqual(before);
  });

  it('takes a placeholder that is right as it stands', async () => {
    const body = 'Hello Jane, the delivery arrives on [date].';
    const { link, fields, field, approvalId, approval } = await opened(owner, {
      ...{
        text: 'Send this mail.',
        context: { to: 'jane@acme.example', subject: 'Delivery', body: 'Hello.' },
      },
    });
    await desk.test.rows(
      `update work_packets set params = jsonb_set(params, '{body}', to_jsonb($2::text)),
         needs_input = '[{"path":"params.body","message":"Fill in [date] in params.body."}]' where directive_id = $1`,
      [approval.directiveId, body],
    );
    await desk.test.rows(
      `update approvals set inputs_needed = 1, packets = jsonb_set(jsonb_set(packets, '{0,action,params,body}', to_jsonb($2::text)),
         '{0,needsInput}', '[{"path":"params.body","message":"Fill in [date] in params.body."}]') where approval_id = $1`,
      [approvalId, body],
    );
    const page = await browser.get(link);
    expect(wordsOfHtml(page.text)).toContain('Fill in [date] in Text.');

    const form = { ...fields, [field('body')]: body, [`confirm ${field('body')}`]: 'on', decision: 'save' };
    const saved = await browser.post(link, form);

    expect([saved.status, wordsOfHtml(saved.text)]).toEqual([200, expect.stringContaining('Saved.')]);
    expect(await desk.desk(owner).approval(approvalId)).toMatchObject({ inputsNeeded: 0 });
    expect(saved.text).toContain('value="approve"');
  });
});

describe('after an edit by link', () => {
  it('does not approve where the edit has made it dangerous and a second factor is asked for', async () => {
    await owner.put('/settings', { secondFactor: 'required' });
    const { link, fields, field } = await opened();
    expect((await browser.get(link)).text).toContain('value="approve"');
    const many = Array.from({ length: 60 }, (_, i) => `p${i}@acme.example`).join('\n');

    const saved = await browser.post(link, { ...fields, [field('to')]: many, decision: 'save' });

    const next = formOf(saved, link);
    expect(saved.status).toBe(200);
    expect(wordsOfHtml(saved.text)).toContain('a link is one factor only');
    expect(saved.text).not.toContain('value="approve"');
    expect((await browser.post(next.url, { ...next.fields, decision: 'approve' })).status).toBe(403);
  });

  it('does not approve for its editor where another pair of eyes has to look', async () => {
    const operator = await desk.member(workspaceId, 'operator');
    const { link, fields, field, approvalId } = await opened(operator);
    await desk.test.rows('update approvals set self_approval = false where approval_id = $1', [approvalId]);
    expect((await browser.get(link)).text).toContain('value="approve"');

    const saved = await browser.post(link, { ...fields, [field('subject')]: 'On Friday', decision: 'save' });

    const next = formOf(saved, link);
    expect(wordsOfHtml(saved.text)).toContain(
      'someone other than the member who asked for this or edited it',
    );
    expect(saved.text).not.toContain('value="approve"');
    expect((await browser.post(next.url, { ...next.fields, decision: 'approve' })).status).toBe(403);
    expect((await browser.post(next.url, { decision: 'reject', feedback: 'No.' })).status).toBe(200);
  });

  it('mails everybody else a link to the new content, and not its editor', async () => {
    const other = await desk.member(workspaceId, 'admin');
    const { link, fields, field } = await opened();
    await desk.mailed(other.email);

    await browser.post(link, { ...fields, [field('subject')]: 'On Friday', decision: 'save' });

    const mails = await desk.mailed(other.email, 2);
    expect((await browser.get(mails[1]!.links[0]!)).status).toBe(200);
    await desk.quiet();
    expect(await desk.mails(owner.email)).toHaveLength(1);
  });
});

describe('POST /a/:token with "revise" 200', () => {
  it('sends the draft back with a wish, and mails the next one', async () => {
    const { link, fields, approvalId } = await opened();

    const answer = await browser.post(link, { ...fields, decision: 'revise', feedback: 'Write Thursday.' });

    expect([answer.status, wordsOfHtml(answer.text)]).toEqual([200, expect.stringContaining('Sent back')]);
    expect(await desk.desk(owner).approval(approvalId)).toMatchObject({
      status: 'changes_requested',
      feedback: 'Write Thursday.',
      decidedVia: 'link',
    });
    expect((await desk.mailed(owner.email, 2)).at(-1)!.links).toHaveLength(1);
    const again = await browser.post(link, { decision: 'revise', feedback: 'Write Thursday.' });
    expect([again.status, wordsOfHtml(again.text)]).toEqual([
      410,
      expect.stringContaining('You sent the draft back'),
    ]);
    expect(wordsOfHtml(again.text)).toContain('Write Thursday.');
  });
});

describe('POST /a/:token with "save" 422', () => {
  it.each<[string, string, string, string]>([
    ['a subject of two lines', 'subject', 'One\r\nBcc: eve@evil.example', 'Subject must be one line'],
    [
      'an address that is none',
      'to',
      'jane@acme.example\r\njane at acme',
      '“jane at acme” must be a mail address',
    ],
    ['nobody to send it to', 'to', ' ', 'To must name at least one address'],
    ['no subject', 'subject', '', 'Subject must not be empty'],
    ['100 KB of text', 'body', 'long '.repeat(20_000), 'Text must have at most 50,000 characters'],
    ['a control character', 'body', 'Hello \u0007 Jane', 'Text must not contain control characters'],
    ['NUL', 'body', 'Hello \0 Jane', 'Text must not contain control characters'],
    [
      'characters that nobody sees',
      'subject',
      '\u200b\u2060',
      'Subject must contain something that can be seen',
    ],
  ])(
    'shows the form again for %s, with what was typed and the fault beside it',
    async (_what, name, typed, words) => {
      const { link, fields, field, approvalId } = await opened();
      await desk.quiet();
      const before = await state(approvalId);
      const sent = { ...fields, [field(name)]: typed, feedback: 'Perhaps later.' };

      const answer = await browser.post(link, { ...sent, decision: 'save' });

      expect([answer.status, wordsOfHtml(answer.text)]).toEqual([422, expect.stringContaining(words)]);
      expect(answer.text).toMatch(
        new RegExp(
          `name="${field(name).replaceAll('.', '\\.')}" aria-describedby="[^"]+" aria-invalid="true"`,
        ),
      );
      expect(answer.text).toContain('<details open>');
      const shown = formOf(answer, link).fields;
      expect(shown['feedback']).toBe('Perhaps later.');
      expect(shown[field(name)]!.replaceAll('\r\n', '\n')).toBe(typed.replaceAll('\r\n', '\n'));
      expect(await state(approvalId)).toEqual(before);
      expect((await browser.post(link, { ...fields, decision: 'approve' })).status).toBe(200);
    },
  );
});

describe('POST /a/:token with "save" for a link that does not work any more', () => {
  const typed = 'Typed with care.';

  it('412 shows what somebody else has changed, and keeps what was typed', async () => {
    const other = await desk.member(workspaceId, 'admin');
    const { link, fields, field, approvalId, approval } = await opened();
    const [packet] = approval.packets;
    const params = { ...packet.action.params, subject: 'Thursday' };
    const edit = { packets: [{ workPacketId: packet.workPacketId, params }] };
    expect((await desk.desk(other).edit(approvalId, edit, approval.contentHash)).status).toBe(200);

    const answer = await browser.post(link, { ...fields, [field('body')]: typed, decision: 'save' });

    const words = wordsOfHtml(answer.text);
    expect(answer.status).toBe(412);
    expect(words).toMatch(/admin \w+ edited it on/);
    expect(words).toMatch(
      new RegExp(`Subject, before:\\s+${packet.action.params.subject}\\s+Subject, now:\\s+Thursday`),
    );
    expect(words).toContain(typed);
    expect(answer.text).not.toContain('<form');
  });

  it('403 keeps what was typed by a member who was removed', async () => {
    const operator = await desk.member(workspaceId, 'operator');
    const { link, fields, field, approvalId } = await opened(operator);
    expect((await owner.delete(`/members/${operator.memberId}`)).status).toBe(200);
    await desk.quiet();
    const before = await state(approvalId);

    const answer = await browser.post(link, { ...fields, [field('body')]: typed, decision: 'save' });

    expect([answer.status, wordsOfHtml(answer.text)]).toEqual([403, expect.stringContaining(typed)]);
    expect(wordsOfHtml(answer.text)).toContain('You are not a member');
    expect(await state(approvalId)).toEqual(before);
  });

  it('410 keeps what was typed after the time to decide', async () => {
    const { link, fields, field, approval } = await opened();
    desk.test.clock.stop(approval.expiresAt + 1);

    const answer = await browser.post(link, { ...fields, [field('body')]: typed, decision: 'save' });

    expect([answer.status, wordsOfHtml(answer.text)]).toEqual([410, expect.stringContaining(typed)]);
    expect(wordsOfHtml(answer.text)).toContain('The time to decide was over');
  });

  it('423 keeps the form while the kill switch is engaged, so that it can be saved after the revert', async () => {
    const { link, fields, field, approvalId } = await opened();
    await desk.desk(owner).kill();
    const sent = { ...fields, [field('body')]: typed, decision: 'save' };

    const answer = await browser.post(link, sent);

    expect(answer.status).toBe(423);
    expect(formOf(answer, link).fields[field('body')]).toBe(typed);
    await desk.desk(owner).revert();
    expect((await browser.post(link, sent)).status).toBe(200);
    expect((await desk.desk(owner).approval(approvalId)).packets[0].action.params.body).toBe(typed);
  });
});
