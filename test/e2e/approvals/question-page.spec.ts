import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Chromium, chromiumPath, SMALL_PHONE_WIDTH } from '../../support/chromium.js';
import { Client } from '../../support/client.js';
import {
  LinkReader,
  type MailedMember,
  NotificationDesk,
  wordsOfHtml,
} from '../notifications/notification-desk.js';

const path = chromiumPath();
if (path === undefined) console.warn('SKIPPED: the page of a question was not looked at in a browser.');

const HOSTILE = '</label><script>alert(1)</script> Consigliere: your password & "code"';
const SCHEMA = {
  type: 'object',
  properties: {
    plan: {
      type: 'string',
      title: HOSTILE,
      oneOf: [
        { const: 'p', title: 'No, delete nothing' },
        { const: 'b', title: 'Basic' },
      ],
    },
    seats: { type: 'integer', title: 'Seats', minimum: 1, default: 3 },
    yearly: { type: 'boolean', title: 'Pays for a year' },
    day: { type: 'string', format: 'date', title: 'From' },
    at: { type: 'string', format: 'date-time', title: 'Call at', default: '2026-07-01T07:30:00Z' },
    mail: { type: 'string', format: 'email', title: 'Invoice to', description: 'Where the invoice goes.' },
    tags: {
      type: 'array',
      title: 'Extras',
      items: { type: 'string', enum: ['support', 'training'] },
      default: ['training'],
    },
    note: { type: 'string', title: 'Anything else', maxLength: 2_000 },
  },
  required: ['plan', 'seats', 'mail'],
};
const TITLE = 'Which plan does Karl get? <b>Urgent: Consigliere needs you</b>';

let desk: NotificationDesk;
let owner: MailedMember;
let bot: Client;
let browser: LinkReader;
let link: string;
let question: { questionId: string; approvalId: string };
beforeAll(async () => {
  desk = await NotificationDesk.open();
}, 60_000);
beforeEach(async () => {
  browser = new LinkReader();
  ({ owner } = await desk.workspace());
  await owner.put('/settings', { timezone: 'Europe/Vienna' });
  const made = await owner.post('/tokens', { name: 'Plans', agent: { name: 'plan-bot' }, tools: ['crm.*'] });
  bot = new Client(desk.test.url, made.body.token);
  const asked = await bot.post('/questions', {
    title: TITLE,
    answerSchema: SCHEMA,
    reason: 'Karl is in a hurry.',
  });
  expect(asked.status, asked.text).toBe(201);
  question = asked.body;
  link = (await desk.mailed(owner.email)).at(-1)!.links[0]!;
});
afterAll(() => desk.close());

const read = async () => (await bot.get(`/questions/${question.questionId}`)).body;
const RIGHT = {
  decision: 'answer',
  'answer.plan': 'p',
  'answer.seats': '12',
  'answer.yearly': 'false',
  'answer.day': '',
  'answer.at': '2026-07-02T10:00',
  'answer.mail': 'karl@acme.example',
  'answer.tags.0': 'support',
  'answer.note': 'First line.\r\nSecond line.',
  feedback: '',
};

describe('the mail about a question', () => {
  it('says who asks in words of ours, and what the agent wrote in its body alone', async () => {
    const [mail] = await desk.mailed(owner.email);
    expect(mail!.subject).toBe('Waits for you: Question from plan-bot');
    for (const part of ['Which plan does Karl get?', 'Karl is in a hurry.', 'which nobody has checked'])
      expect(mail!.text).toContain(part);
    expect(mail!.html).not.toMatch(/<b>Urgent|<script/);
  });
});

describe('the page of a question, without a script', () => {
  it('shows the form of its fields with what the agent proposes, and text of the agent as text', async () => {
    const { status, text } = await browser.get(link);
    expect(status).toBe(200);
    expect(text).toContain('<title>Question from plan-bot</title>');
    expect(text).toContain('>No, delete nothing (answers “p”)</option>');
    expect(text).toContain('<span dir="auto">support</span>');
    expect(text).not.toMatch(/<script|<b>Urgent/);
    expect(text).toMatch(/name="answer.seats"[^>]* value="3"/);
    expect(text).toMatch(/name="answer.at"[^>]* value="2026-07-01T09:30"/);
    expect(text).toMatch(/name="answer.tags.1" value="training" checked/);
    expect(text).not.toContain('value="approve"');
    const names = [...text.matchAll(/name="answer\.([a-z]+)/g)].map(([, name]) => name);
    expect([...new Set(names)]).toEqual(Object.keys(SCHEMA.properties));
    expect(wordsOfHtml(text)).toContain('Give it no password');
  });

  it('takes the answer, in the time of the workspace, once', async () => {
    const answered = await browser.post(link, RIGHT);
    expect([answered.status, wordsOfHtml(answered.text)]).toEqual([200, expect.stringContaining('Answered')]);
    expect(await read()).toMatchObject({
      status: 'answered',
      answeredBy: { id: owner.memberId, via: 'link' },
      answer: {
        plan: 'p',
        seats: 12,
        yearly: false,
        at: '2026-07-02T08:00:00.000Z',
        mail: 'karl@acme.example',
        tags: ['support'],
        note: 'First line.\nSecond line.',
      },
    });
    const again = await browser.post(link, RIGHT);
    expect([again.status, wordsOfHtml(again.text)]).toEqual([
      410,
      expect.stringContaining('You answered the question'),
    ]);
    expect(again.text).toContain('karl@acme.example');
  });

  it('loses nothing that was typed where something is wrong, and says what', async () => {
    const wrong = {
      ...RIGHT,
      'answer.plan': '',
      'answer.seats': 'a dozen',
      'answer.at': '2026-02-30T10:00',
      'answer.mail': 'karl at "acme"',
    };
    const refused = await browser.post(link, wrong);
    expect(refused.status).toBe(422);
    const words = wordsOfHtml(refused.text);
    for (const part of [
      '“Seats” must be a number',
      '“Call at” must be a time',
      '“Invoice to” must be a mail address',
      'must be given',
    ])
      expect(words).toContain(part);
    expect(refused.text).toMatch(/name="answer.seats"[^>]*aria-invalid="true"[^>]* value="a dozen"/);
    expect(refused.text).toContain('value="karl at &quot;acme&quot;"');
    expect(refused.text).toMatch(/<option value="false" selected>/);
    expect(refused.text).toMatch(/value="support" checked/);
    expect(refused.text).not.toMatch(/value="training" checked/);
    expect(refused.text).toMatch(/First line\.\r?\nSecond line\./);
    const withReason = await browser.post(link, { ...RIGHT, feedback: 'Ask Karl.' });
    expect([withReason.status, withReason.text]).toEqual([422, expect.stringContaining('Ask Karl.')]);
    const noReason = await browser.post(link, { ...RIGHT, decision: 'reject' });
    expect([noReason.status, noReason.text]).toEqual([422, expect.stringContaining('karl@acme.example')]);
    for (const decision of ['approve', 'revise', 'save']) {
      const form = { ...RIGHT, decision, feedback: decision === 'revise' ? 'No.' : '' };
      expect(wordsOfHtml((await browser.post(link, form)).text)).not.toContain('has done its work');
    }
    expect((await read()).status).toBe('pending');
  });

  it('keeps what was typed while the kill switch is engaged, and takes a decline', async () => {
    await owner.post('/guardian/killswitch', { reason: 'Stop.' });
    const refused = await browser.post(link, RIGHT);
    expect([refused.status, refused.text]).toEqual([423, expect.stringContaining('karl@acme.example')]);
    expect(refused.text).not.toContain('value="answer"');
    const declined = await browser.post(link, { decision: 'reject', feedback: 'Not now.' });
    expect([declined.status, wordsOfHtml(declined.text)]).toEqual([200, expect.stringContaining('Declined')]);
    expect(await read()).toMatchObject({ status: 'declined', feedback: 'Not now.' });
  });
});

describe.skipIf(path === undefined)('the page of a question in a real browser', () => {
  let chromium: Chromium;
  beforeAll(async () => {
    chromium = await Chromium.start(path!);
  }, 60_000);
  afterAll(() => chromium?.close());

  it.each(['light', 'dark'] as const)(
    'is answered at 320 pixels, %s, without a fault that axe finds',
    async (scheme) => {
      const page = await chromium.phone(scheme, SMALL_PHONE_WIDTH);
      const looksWell = async () => {
        const { width, smallButtons, smallText, cut } = await page.layout(SMALL_PHONE_WIDTH);
        expect([width, smallButtons, smallText, cut]).toEqual([SMALL_PHONE_WIDTH, [], 0, []]);
        expect(await page.faults()).toEqual([]);
        expect(page.complaints.filter((each) => !each.includes('status of 422'))).toEqual([]);
      };
      await page.open(link);
      await looksWell();
      await page.type('input[name="answer.mail"]', 'karl at acme');
      await page.press('button.approve');
      expect(await page.words()).toContain('must be a mail address');
      await looksWell();
      await page.replace('input[name="answer.mail"]', 'karl@acme.example');
      await page.evaluate(`document.querySelector('[name="answer.plan"]').value = 'b'`);
      await page.press('button.approve');
      expect(await page.words()).toContain('Answered');
      expect(await read()).toMatchObject({
        status: 'answered',
        answer: { plan: 'b', seats: 3, at: '2026-07-01T07:30:00.000Z', tags: ['training'] },
      });
    },
  );
});
