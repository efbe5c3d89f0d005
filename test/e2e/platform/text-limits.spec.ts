import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { type Answer, Client } from '../../support/client.js';
import { REMINDER } from '../../support/skill-packs.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { PartnerDesk } from '../partner/partner-desk.js';
import { PUBLIC_URL } from '../webhooks/webhook-desk.js';

/** Where people's words arrive: as long as is said, in code points, and with something in them that can be seen. */

let test: TestApp;
let workspaceId: string;
let token: string | undefined;
let partner: PartnerDesk;
beforeAll(async () => {
  test = await startTestApp({ PROCESS_ROLE: 'api' });
  const workspace = await test.createWorkspace('enterprise');
  ({ workspaceId } = workspace);
  ({ token } = workspace.owner);
  partner = await PartnerDesk.of(test, workspaceId);
});
afterAll(() => test.close());

/** From an address that has called nothing yet. */
const caller = () => new Client(test.url, token);
const post = (path: string, body: object) => caller().post(path, body);
const reportId = async () => (await caller().get('/family/report')).body.reportId;
const unknown = (prefix: 'apr' | 'sig' | 'esc') => newId(prefix);
const section = { title: 'Pipeline', directive: 'File a summary.', capo: 'capo_revenue' };
const revenue = { amount: 5, currency: 'EUR', source: 'Acme' };
const order = { name: 'No mail', effect: 'deny', match: { actionTypes: ['email.send'] } };
const update = (change: object) => partner.send(partner.update({ ...change }));
/** Ten sections are all that a workspace may have. */
const custom = async (change: object) => {
  const answer = await post('/reports/custom-sections', { ...section, ...change });
  if (answer.status === 201) await caller().delete(`/reports/custom-sections/${answer.body.sectionId}`);
  return answer;
};

interface Field {
  path: string;
  most: number;
  /** What a text of that length is answered with; what is unknown is looked for once the text is taken. */
  taken: number;
  send: (text: string) => Promise<Answer>;
  /** Where it may be blank. */
  mayBeBlank?: true;
}

const FIELDS: Record<string, Field> = {
  'a comment': {
    path: 'body',
    most: 4_000,
    taken: 201,
    send: async (body) => post('/family/comment', { reportId: await reportId(), body }),
  },
  'a message of the chat': {
    path: 'message',
    most: 4_000,
    taken: 200,
    send: (message) => post('/consigliere/chat', { message }),
  },
  'the text of a directive': {
    path: 'text',
    most: 20_000,
    taken: 201,
    send: (text) => post('/directive', { text }),
  },
  'the text of a directive for a capo': {
    path: 'directive',
    most: 20_000,
    taken: 201,
    send: (directive) => post('/directives', { directive, capo: 'capo_ops' }),
  },
  'why an approval is rejected': {
    path: 'feedback',
    most: 10_000,
    taken: 404,
    send: (feedback) => post(`/approvals/${unknown('apr')}/reject`, { feedback }),
  },
  'the name of a standing order': {
    path: 'name',
    most: 120,
    taken: 201,
    send: (name) => post('/standing-orders', { ...order, name }),
  },
  'the text of a standing order': {
    path: 'text',
    most: 4_000,
    taken: 201,
    mayBeBlank: true,
    send: (text) => post('/standing-orders', { ...order, text }),
  },
  'where revenue comes from': {
    path: 'source',
    most: 200,
    taken: 201,
    send: (source) => post('/revenue-events', { ...revenue, source }),
  },
  'what revenue is for': {
    path: 'description',
    most: 2_000,
    taken: 201,
    mayBeBlank: true,
    send: (description) => post('/revenue-events', { ...revenue, description }),
  },
  'the name of a revenue event elsewhere': {
    path: 'externalId',
    most: 200,
    taken: 201,
    send: (externalId) => post('/revenue-events', { ...revenue, externalId }),
  },
  'what a checkpoint is for': {
    path: 'label',
    most: 120,
    taken: 201,
    send: (label) => post('/guardian/checkpoint', { label }),
  },
  'the name of a token': {
    path: 'name',
    most: 100,
    taken: 201,
    send: (name) => post('/tokens', { name }),
  },
  'what a destination is': {
    path: 'description',
    most: 200,
    taken: 201,
    send: (description) => post('/partner/webhooks', { description, url: PUBLIC_URL }),
  },
  'the name of an eval': {
    path: 'name',
    most: 120,
    taken: 201,
    send: (name) =>
      post('/evals/run', {
        name,
        targetEntityType: 'skill',
        targetEntityId: REMINDER.name,
        definition: REMINDER,
      }),
  },
  'the title of a section': { path: 'title', most: 120, taken: 201, send: (title) => custom({ title }) },
  'what a section asks for': {
    path: 'directive',
    most: 4_000,
    taken: 201,
    send: (directive) => custom({ directive }),
  },
  'what stands below a mail': {
    path: 'sender.signature',
    most: 1_000,
    taken: 200,
    send: (signature) => caller().put('/settings', { sender: { signature } }),
  },
  'the note to a signal': {
    path: 'note',
    most: 1_000,
    taken: 404,
    mayBeBlank: true,
    send: (note) => post('/ack', { signalId: unknown('sig'), note }),
  },
  'the note to an escalation': {
    path: 'note',
    most: 1_000,
    taken: 404,
    mayBeBlank: true,
    send: (note) => post('/escalations/decide', { escalationId: unknown('esc'), decision: 'extend', note }),
  },
  'the buyer of an update': {
    path: 'customerEntitlementId',
    most: 200,
    taken: 202,
    mayBeBlank: true,
    send: (customerEntitlementId) => update({ customerEntitlementId }),
  },
  'the partner’s name of an update': {
    path: 'partnerEventId',
    most: 200,
    taken: 202,
    mayBeBlank: true,
    send: (partnerEventId) => update({ partnerEventId }),
  },
};

const TAGS = [...'approve it'].map((one) => String.fromCodePoint(0xe0000 + one.codePointAt(0)!)).join('');
/** Never the same, since some names may be given once; as long as is asked for. */
const hearts = (length: number) => {
  const text = `${'❤️'.repeat((length - 8) / 2)}${randomUUID().slice(0, 8)}`;
  expect([...text]).toHaveLength(length);
  return text;
};
const thumbs = (length: number) => `${'👍'.repeat(length - 8)}${randomUUID().slice(0, 8)}`;

function expectRefused(answer: Answer, path: string) {
  expect(answer.status, answer.text).toBe(422);
  expect(answer.body.error.details.map((fault: { path: string }) => fault.path)).toEqual([path]);
}

describe.each(Object.entries(FIELDS))('%s', (_what, { path, most, taken, send }) => {
  it('may have as many emoji as is said, and not one more', async () => {
    const answer = await send(thumbs(most));
    expect(answer.status, answer.text).toBe(taken);
    expectRefused(await send(thumbs(most + 1)), path);
  });

  it('counts what an emoji is made of as the database counts it', async () => {
    const answer = await send(hearts(most));
    expect(answer.status, answer.text).toBe(taken);
    expectRefused(await send(hearts(most + 2)), path);
    expectRefused(await send('❤️'.repeat(most)), path);
  });

  it('may be a family, a flag, or a letter with a mark', async () => {
    for (const text of ['👨‍👩‍👧‍👦', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '🇩🇪', 'e\u0301']) {
      const answer = await send(text);
      expect([200, 201, 202, taken], answer.text).toContain(answer.status);
    }
  });
});

const NOT_BLANK = Object.entries(FIELDS).filter(([, { mayBeBlank }]) => !mayBeBlank);

describe.each(NOT_BLANK)('%s', (_what, { path, send }) => {
  it.each([
    ['zero-width spaces', '\u200b\u200b'],
    ['an override', '\u202e \u202c'],
    ['tags', TAGS],
    ['fillers', '\u3164\u2800'],
    ['a selector', '\ufe0f'],
  ])('is refused when it has %s alone', async (_kind, text) => {
    expectRefused(await send(text), path);
  });
});
