import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type BrowserPage,
  Chromium,
  chromiumPath,
  PHONE_WIDTH,
  SMALL_PHONE_WIDTH,
} from '../../support/chromium.js';
import { type MailedMember, NotificationDesk, wordsIn } from './notification-desk.js';

const IMAGES = join(import.meta.dirname, '../../../docs/guides/images');
const path = chromiumPath();
if (path === undefined) {
  console.warn(
    'SKIPPED: the mail and the decision page were not looked at in a browser, since no Chromium is on the PATH (apt-get install chromium).',
  );
}

const BODY = `Hello Jane,

your order 4711 leaves our warehouse on Thursday and reaches you on Friday, 20 February, between nine and twelve. The parcel needs a signature.

  - invoice: https://northwind.example/invoices/2026/02/4711-${'0123456789abcdef'.repeat(4)}
  - questions: care@northwind.example

Kind regards`;
/** The picture in the README. */
const README_WIDTH = 760;
const DIRECTIVE = {
  text: 'Please send this mail.',
  context: { to: 'jane@acme.example', subject: 'Your order arrives on Friday', body: BODY },
};

let desk: NotificationDesk;
let owner: MailedMember;
let workspaceId: string;
let chromium: Chromium;

async function keep(page: BrowserPage, name: string, format: 'webp' | 'png' = 'webp'): Promise<void> {
  const picture = await page.picture(format);
  expect(picture.length).toBeGreaterThan(5_000);
  expect(picture.length).toBeLessThan(format === 'png' ? 200_000 : 120_000);
  if (process.env['WRITE_IMAGES'] === undefined) return;
  await mkdir(IMAGES, { recursive: true });
  await writeFile(join(IMAGES, `${name}.${format}`), picture);
}

describe.skipIf(path === undefined)('in a real browser at the width of a phone', () => {
  beforeAll(async () => {
    desk = await NotificationDesk.open();
    chromium = await Chromium.start(path!);
  }, 60_000);
  beforeEach(async () => {
    ({ workspaceId, owner } = await desk.workspace());
    await desk.test.rows(`update users set display_name = 'Mira Novak' where email = $1`, [owner.email]);
    await owner.put('/settings', { timezone: 'Europe/Vienna' });
  });
  afterAll(async () => {
    await chromium?.close();
    await desk?.close();
  });

  const waiting = async () => {
    const ready = await desk.desk(owner).handInReady(DIRECTIVE);
    const mail = (await desk.mailed(owner.email)).at(-1)!;
    return { ...ready, mail, link: mail.links[0]! };
  };

  it.each([
    ['light', 'rgb(255, 255, 255)'],
    ['dark', 'rgb(24, 24, 27)'],
  ] as const)('shows the mail, %s: all of it, and nothing is loaded', async (scheme, background) => {
    const { mail } = await waiting();
    const page = await chromium.phone(scheme);
    await page.show(mail.html!);

    expect(await page.layout(PHONE_WIDTH)).toEqual({
      width: PHONE_WIDTH,
      background,
      smallButtons: [],
      smallText: 0,
      cut: [],
    });
    expect(wordsIn(await page.words())).toEqual(wordsIn(mail.text!));
    expect([page.requests, page.complaints]).toEqual([[], []]);
    if (scheme === 'light') await keep(page, 'approval-mail-light');
  });

  it.each([
    ['light', 'rgb(255, 255, 255)'],
    ['dark', 'rgb(24, 24, 27)'],
  ] as const)(
    'shows the page of the link, %s: the complete draft, and nothing else is loaded',
    async (scheme, background) => {
      const { link } = await waiting();
      const page = await chromium.phone(scheme);
      await page.open(link);

      expect(await page.layout(PHONE_WIDTH)).toEqual({
        width: PHONE_WIDTH,
        background,
        smallButtons: [],
        smallText: 0,
        cut: [],
      });
      const words = await page.words();
      for (const part of [
        'jane@acme.example',
        'Your order arrives on Friday',
        'The parcel needs a signature.',
        'Kind regards',
      ])
        expect(words).toContain(part);
      expect([page.requests, page.complaints]).toEqual([[link], []]);
      if (scheme === 'light') await keep(page, 'decision-page-light');
    },
  );

  it('fits the page of the link on a desk, as the README shows it', async () => {
    await desk.test.rows(`update workspaces set name = 'Northwind' where workspace_id = $1`, [workspaceId]);
    await desk.desk(owner).handInReady({
      text: 'Send this to Jane.',
      context: {
        to: 'jane@acme.example',
        subject: 'Your order arrives on Friday',
        body: 'Hello Jane,\n\nyour order 4711 arrives on Friday between nine and twelve.\n\nKind regards\nMira Novak',
      },
    });
    const [link] = (await desk.mailed(owner.email)).at(-1)!.links;
    const page = await chromium.phone();
    await page.widen(README_WIDTH);
    await page.open(link!);

    expect((await page.layout(README_WIDTH)).cut).toEqual([]);
    await keep(page, 'decision-page', 'png');
  });

  it('approves at the press of a button, without any script', async () => {
    const { link, approvalId } = await waiting();
    const page = await chromium.phone();
    await page.open(link);

    await page.press('button.approve');

    expect(await page.words()).toContain('Approved');
    expect(page.complaints).toEqual([]);
    expect(await desk.desk(owner).approval(approvalId)).toMatchObject({
      status: 'approved',
      decidedVia: 'link',
    });
  });

  it('asks for a reason before it rejects, and takes it', async () => {
    const { link, approvalId } = await waiting();
    const page = await chromium.phone();
    await page.open(link);
    expect(await page.evaluate(`document.querySelector('#feedback').checkValidity()`)).toBe(false);

    await page.type('#feedback', 'Not on a Friday. 👩‍👩‍👧');
    await page.press('button.reject');

    expect(await page.words()).toContain('Rejected');
    expect(await desk.desk(owner).approval(approvalId)).toMatchObject({
      status: 'rejected',
      feedback: 'Not on a Friday. 👩‍👩‍👧',
    });
  });

  it.each(['light', 'dark'] as const)(
    'completes a draft without text, approves it and has it sent, at 320 pixels, %s, without a fault that axe finds',
    async (scheme) => {
      const body = 'Hello Jane,\n\nthe delivery arrives on Friday.\n\nKind regards';
      const { directiveId } = await desk.desk(owner).handInReady({
        text: 'Email jane@acme.example about the delivery.',
      });
      const [link] = (await desk.mailed(owner.email)).at(-1)!.links;
      const page = await chromium.phone(scheme, SMALL_PHONE_WIDTH);
      const looksWell = async () => {
        const { width, smallButtons, smallText, cut } = await page.layout(SMALL_PHONE_WIDTH);
        expect([width, smallButtons, smallText, cut]).toEqual([SMALL_PHONE_WIDTH, [], 0, []]);
        expect(await page.faults()).toEqual([]);
        expect(page.complaints.filter((each) => !each.includes('status of 422'))).toEqual([]);
      };
      await page.open(link!);
      await looksWell();
      if (scheme === 'light') await keep(page, 'decision-page-320-asked');

      await page.press('button.save');
      expect(await page.words()).toContain('Nothing was changed');
      await page.replace('textarea[name$=".to"]', 'jane at acme');
      await page.replace('textarea[name$=".body"]', body);
      await page.press('button.save');
      expect(await page.words()).toContain('“jane at acme” must be a mail address');
      await looksWell();

      await page.replace('textarea[name$=".to"]', 'jane@acme.example');
      await page.replace('input[name$=".subject"]', 'Your delivery');
      await page.press('button.save');
      expect(await page.words()).toContain('Nothing is approved yet');
      await looksWell();
      if (scheme === 'light') await keep(page, 'decision-page-320-saved');

      await page.press('button.approve');
      expect(await page.words()).toContain('Approved');
      await looksWell();
      await desk.desk(owner).until(directiveId, 'executed');
      const sent = desk.mail.received.findLast(({ to }) => to.includes('jane@acme.example'))!;
      const mail = await PostalMime.parse(sent.bytes);
      expect([mail.subject, mail.text?.replaceAll('\r\n', '\n').trim()]).toEqual(['Your delivery', body]);
    },
  );

  it.each(['light', 'dark'] as const)(
    'shows an invite and a new password as it does a draft, %s',
    async (scheme) => {
      const address = `${scheme}.${owner.email}`;
      expect((await owner.post('/members', { email: address, role: 'operator' })).status).toBe(201);
      const linkIn = async (email: string, part: string) => {
        const mails = await desk.mailed(email);
        const { text } = mails.findLast((mail) => mail.text?.includes(part))!;
        return /https?:\/\/[^\s>)\]]+/.exec(text!)![0];
      };
      const page = await chromium.phone(scheme, SMALL_PHONE_WIDTH);
      const looksWell = async () => {
        const { width, smallButtons, smallText, cut } = await page.layout(SMALL_PHONE_WIDTH);
        expect([width, smallButtons, smallText, cut]).toEqual([SMALL_PHONE_WIDTH, [], 0, []]);
        expect([await page.faults(), page.complaints]).toEqual([[], []]);
      };
      await page.open(await linkIn(address, '/invites/'));
      await looksWell();
      await page.type('input[name="displayName"]', 'Jo Lind');
      await page.type('input[name="password"]', 'nineteen pears on a slow train');
      await page.press('button');
      expect(await page.words()).toContain('You have joined.');
      await looksWell();

      const forgotten = await fetch(`${desk.test.url}/api/admin/password/forgotten`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ email: address }),
      });
      expect(forgotten.status).toBe(202);
      await desk.mailed(address, 2);
      await page.open(await linkIn(address, '/password/'));
      expect(await page.words()).toMatch(/until \w+day, \d+ \w+ \d{4} at \d\d:\d\d \(UTC\)/);
      await looksWell();
    },
  );
});
