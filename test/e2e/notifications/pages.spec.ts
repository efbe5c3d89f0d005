import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountMail, resetMail } from '../../../src/features/accounts/account-act.js';
import { resetDonePage } from '../../../src/features/accounts/password.controller.js';
import { compose, type MailMessage } from '../../../src/features/mail/mail-message.js';
import { testMail } from '../../../src/features/setup/setup.js';
import { decidedPage, refusedPage } from '../../../src/features/notifications/decision-page.js';
import { beginPage, notSignedInPage, signedInPage } from '../../../src/features/oidc/oidc.controller.js';
import { reportMail } from '../../../src/features/reports/report-mail.service.js';
import { inviteMail } from '../../../src/features/teams/send-invite-mail.js';
import { welcomePage } from '../../../src/features/teams/invites.controller.js';
import { deletionMail } from '../../../src/features/tenancy/send-deletion-mail.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { RouteTable } from '../../../src/platform/http/route-table.js';
import { type BrowserPage, Chromium, chromiumPath, SMALL_PHONE_WIDTH } from '../../support/chromium.js';
import { MAIL } from '../directives/desk.js';
import { eventually } from '../../support/test-app.js';
import { LinkReader, type MailedMember, NotificationDesk } from './notification-desk.js';

/** Every page and every HTML mail, at 320 pixels: nothing to scroll sideways, and nothing that axe finds at fault. */
const SRC = join(import.meta.dirname, '../../../src');
const path = chromiumPath();
if (path === undefined)
  console.warn('SKIPPED: no page and no mail was looked at in a browser, since no Chromium is on the PATH.');

const LONG = 'abcdefghij'.repeat(20);
const AT = Date.UTC(2026, 1, 18, 12);
const EMAIL = `${'long-address'.repeat(4)}@northwind.example`;

let desk: NotificationDesk;
let owner: MailedMember;
let workspaceId: string;
let chromium: Chromium;
/** The notification mails of one eventful hour. */
let told: { subject: string; html: string; links: string[]; text: string }[];

async function htmlOf(message: MailMessage): Promise<string> {
  const { bytes } = await compose(message, 'Consigliere <consigliere@northwind.example>', AT);
  return (await PostalMime.parse(bytes)).html!;
}

const invite = (more: object) =>
  inviteMail(
    {
      ...{ email: EMAIL, role: 'operator', invitedBy: { name: LONG }, workspaceName: LONG, teamName: LONG },
      ...{ expiresAt: AT, timezone: 'Europe/Vienna', ...more },
    } as never,
    newId('msg'),
    `https://northwind.example/invites/${LONG}`,
  );

/** The mails that each source file makes; one that makes mails and is missing here fails the test below. */
const MAILS: Record<string, () => Promise<string[]>> = {
  'features/accounts/account-act.ts': () =>
    Promise.all([
      ...(['password.changed', 'second_factor.added', 'second_factor.recovery_code_used'] as const).map(
        (notice) => htmlOf(accountMail({ mailId: newId('msg'), email: EMAIL, notice, at: AT })),
      ),
      htmlOf(resetMail(newId('msg'), EMAIL, `https://northwind.example/password/${LONG}`, AT)),
    ]),
  'features/teams/send-invite-mail.ts': () =>
    Promise.all([htmlOf(invite({})), htmlOf(invite({ teamName: null, workspaceName: 'Northwind' }))]),
  'features/setup/setup.ts': async () => [
    await htmlOf(testMail(newId('msg'), EMAIL, 'https://consigliere.northwind.example')),
  ],
  'features/tenancy/send-deletion-mail.ts': () =>
    Promise.all(
      (['requested', 'ending', 'withdrawn'] as const).map((news) =>
        htmlOf(
          deletionMail(news, {
            ...{ id: newId('msg'), to: EMAIL, workspaceName: LONG, requestedBy: LONG, dueAt: AT },
            ...{ timezone: 'Europe/Vienna', url: 'https://consigliere.northwind.example' },
          }),
        ),
      ),
    ),
  'features/reports/report-mail.service.ts': async () => {
    const today = new Date(desk.test.clock.now()).toISOString().slice(0, 10);
    const { body } = await owner.get(`/reports/daily?date=${today}`);
    const mail = { format: 'email', workspaceName: LONG } as const;
    const unsubscribeUrl = `https://northwind.example/unsubscribe/${LONG}`;
    const report = { ...body, headline: `${body.headline} ${LONG}` };
    return Promise.all(
      [mail, { ...mail, unsubscribeUrl }].map((how) =>
        htmlOf({ id: newId('msg'), to: [EMAIL], ...reportMail(report, how) }),
      ),
    );
  },
  'features/notifications/compose-mail.ts': async () => told.map(({ html }) => html),
  'features/mail/blocks.ts': async () => [],
};

const VOTES = { have: 1, need: 2 };

/** By the path of the route: what it can show. A page that is missing here fails the test below. */
const PAGES: Record<string, () => Promise<{ open?: string[]; show?: string[] }>> = {
  '/a/:token': async () => ({
    open: [`${desk.test.url}/a/none`, ...told.flatMap(({ links }) => links)],
    show: [
      ...(['pending', 'approved', 'rejected', 'changes_requested'] as const).map((status) =>
        decidedPage(
          { status, votes: VOTES, directiveStatus: 'sending', receiptId: newId('rcp') } as never,
          'output',
        ),
      ),
      ...(['approved', 'rejected'] as const).map((status) =>
        decidedPage(
          { status, votes: VOTES, directiveStatus: null, receiptId: newId('rcp') } as never,
          'question',
        ),
      ),
      refusedPage(
        'The draft has been edited.',
        {
          zone: 'Europe/Vienna',
          revisions: [{ by: { name: LONG }, at: AT, changes: [] }],
          packets: [],
        } as never,
        { feedback: LONG, 'pkt_1.params.body': `${LONG}\n${LONG}` },
      ),
    ],
  }),
  '/unsubscribe/:token': async () => {
    const [, digest] = told.map(({ text }) => /<(http[^>]+\/unsubscribe\/[^>]+)>/.exec(text)).find(Boolean)!;
    const reader = new LinkReader();
    const show = [];
    for (const choice of ['urgent', 'none', 'all']) show.push((await reader.post(digest!, { choice })).text);
    return { open: [digest!, `${desk.test.url}/unsubscribe/none`], show };
  },
  '/invites/:token': async () => ({
    open: [`${desk.test.url}/invites/none`, await linkIn('joins@northwind.example', '/invites/')],
    show: [
      welcomePage({ workspaceName: LONG, token: { token: `cons_${LONG}` } } as never, LONG),
      welcomePage({ workspaceName: LONG, token: null } as never, undefined),
    ],
  }),
  '/password/:token': async () => ({
    open: [`${desk.test.url}/password/none`, await linkIn('joined@northwind.example', '/password/')],
    show: [resetDonePage()],
  }),
  '/api/admin/oidc/start': async () => ({
    open: [`${desk.test.url}/api/admin/oidc/start`],
    show: [beginPage('Northwind', '/api/admin/oidc/start'), notSignedInPage(LONG, '/api/admin/oidc/start')],
  }),
  '/api/admin/oidc/callback': async () => ({
    show: [signedInPage(LONG, null), signedInPage('Mira', 'https://northwind.example')],
  }),
  '/docs': async () => ({ open: [`${desk.test.url}/docs`] }),
};

async function linkIn(email: string, part: string): Promise<string> {
  const found = await eventually(
    async () => (await desk.mails(email)).find(({ text }) => text?.includes(part)),
    Boolean,
  );
  return /https?:\/\/[^\s>)\]]+/.exec(found!.text!)![0];
}

/** A day's worth of reasons to mail somebody. */
async function pass(): Promise<void> {
  const members = desk.desk(owner);
  await members.handInReady({ text: `${MAIL} ${LONG}` });
  await members.handInReady({ text: MAIL, priority: 'high' });
  const failed = await members.handIn({ text: 'Pay out revenue of 900 EUR', capo: 'capo_revenue' });
  await members.until(failed.directiveId, 'failed');
  await desk.escalate(workspaceId, { reason: `The mail server refuses ${LONG}.` });
  await members.kill(`The prices of ${LONG} are wrong.`);
  await members.revert();
  await desk.quiet();
  // A digest of what comes while there is no time to tell of it one by one.
  await desk.test.rows(
    `update work_items set due_at = now() + interval '1 hour' where kind = 'notification.send'`,
  );
  expect(
    (await owner.put('/profile/notifications', { approvals: 'digest', escalations: 'digest' })).status,
  ).toBe(200);
  for (const n of [1, 2, 3]) await members.handInReady({ text: `${MAIL} ${n} ${LONG}` });
  await desk.quiet();
  await desk.test.rows(`update notifications set due_at = now() where member_id = $1`, [owner.memberId]);
  await desk.look();
  expect((await owner.post('/members', { email: 'joins@northwind.example', role: 'viewer' })).status).toBe(
    201,
  );
  expect((await owner.post('/members', { email: 'joined@northwind.example', role: 'viewer' })).status).toBe(
    201,
  );
  const joined = await new LinkReader().post(await linkIn('joined@northwind.example', '/invites/'), {
    displayName: 'Jo Lind',
    password: 'nineteen pears on a slow train',
  });
  expect(joined.status).toBe(200);
  const forgotten = await fetch(`${desk.test.url}/api/admin/password/forgotten`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: 'joined@northwind.example' }),
  });
  expect(forgotten.status).toBe(202);
}

const KINDS = [
  /^Waits for you/,
  /^Urgent, waits for you/,
  /^Failed: /,
  /^A person has to decide/,
  /^Stopped: /,
  /^Running again: /,
  /decisions wait for you/,
];

describe('the list of pages and mails', () => {
  it('has each route that answers HTML, and each file that makes a mail', async () => {
    const html = desk.test.app
      .get(RouteTable)
      .entries.filter(({ method, policy }) => {
        const body = policy.returns[200];
        return method === 'GET' && typeof body === 'object' && 'text/html' in body;
      })
      .map(({ paths }) => paths[0]!)
      // Those of the dashboard are looked at in test/clients/dashboard.
      .filter((route) => route !== '/');
    expect(html.toSorted()).toEqual(Object.keys(PAGES).toSorted());
    const makers: string[] = [];
    for await (const file of glob('features/**/*.ts', { cwd: SRC })) {
      if (/(?<!function )\bmail(?:Of|Html)\(/.test(await readFile(join(SRC, file), 'utf8')))
        makers.push(file);
    }
    expect(makers.toSorted()).toEqual(Object.keys(MAILS).toSorted());
  });
});

describe.skipIf(path === undefined).each(['light', 'dark'] as const)('at 320 pixels, %s', (scheme) => {
  let page: BrowserPage;
  beforeAll(async () => {
    page = await chromium.phone(scheme, SMALL_PHONE_WIDTH);
  });

  async function expectNoFault(what: string): Promise<void> {
    const { width, cut, smallText } = await page.layout(SMALL_PHONE_WIDTH);
    expect([width, cut, smallText], what).toEqual([SMALL_PHONE_WIDTH, [], 0]);
    expect(await page.faults(), what).toEqual([]);
  }

  it.each(Object.keys(MAILS))('the mails of %s scroll nowhere, and axe finds nothing', async (file) => {
    for (const html of await MAILS[file]!()) {
      await page.show(html);
      await expectNoFault(html);
    }
  });

  it.each(Object.keys(PAGES))('the pages of %s scroll nowhere, and axe finds nothing', async (route) => {
    const { open = [], show = [] } = await PAGES[route]!();
    for (const url of open) {
      await page.open(url);
      await expectNoFault(url);
    }
    for (const html of show) {
      await page.show(html);
      await expectNoFault(html);
    }
  });
});

beforeAll(async () => {
  desk = await NotificationDesk.open();
  if (path !== undefined) chromium = await Chromium.start(path);
  ({ workspaceId, owner } = await desk.workspace());
  await pass();
  const mails = await eventually(
    () => desk.mails(owner.email),
    (all) => KINDS.every((kind) => all.some(({ subject }) => kind.test(subject!))),
  );
  told = mails
    .filter(({ subject }) => KINDS.some((kind) => kind.test(subject!)))
    .map(({ subject, html, links, text }) => ({ subject: subject!, html: html!, links, text: text! }));
}, 60_000);
afterAll(async () => {
  await chromium?.close();
  await desk?.close();
});
