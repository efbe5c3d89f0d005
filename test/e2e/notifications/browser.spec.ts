import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BrowserPage, Chromium, chromiumPath, PHONE_WIDTH } from '../../support/chromium.js';
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
const DIRECTIVE = {
  text: 'Tell the customer that the order arrives on Friday.',
  context: { to: 'jane@acme.example', subject: 'Your order arrives on Friday', body: BODY },
};

let desk: NotificationDesk;
let owner: MailedMember;
let chromium: Chromium;

/** What would make a page hard to use on a phone. */
async function facts(page: BrowserPage) {
  return page.evaluate<{
    width: number;
    background: string;
    smallButtons: number;
    smallText: number;
    cut: string[];
  }>(`(() => {
    const all = [...document.body.querySelectorAll('*')];
    return {
      width: Math.max(document.documentElement.scrollWidth, document.body.scrollWidth),
      background: getComputedStyle(document.body).backgroundColor,
      smallButtons: [...document.querySelectorAll('button, a')].filter((e) => e.getBoundingClientRect().height < 44).length,
      smallText: [...document.querySelectorAll('p, li, td, h1, h2, textarea')].filter((e) => parseFloat(getComputedStyle(e).fontSize) < 15).length,
      cut: all.filter((e) => e.getBoundingClientRect().right > ${PHONE_WIDTH} + 1).map((e) => e.outerHTML.slice(0, 100)),
    };
  })()`);
}

async function keep(page: BrowserPage, name: string): Promise<void> {
  const picture = await page.picture();
  expect(picture.length).toBeGreaterThan(5_000);
  expect(picture.length).toBeLessThan(120_000);
  if (process.env['WRITE_IMAGES'] === undefined) return;
  await mkdir(IMAGES, { recursive: true });
  await writeFile(join(IMAGES, `${name}.webp`), picture);
}

describe.skipIf(path === undefined)('in a real browser at the width of a phone', () => {
  beforeAll(async () => {
    desk = await NotificationDesk.open();
    chromium = await Chromium.start(path!);
  }, 60_000);
  beforeEach(async () => {
    ({ owner } = await desk.workspace());
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

    expect(await facts(page)).toEqual({
      width: PHONE_WIDTH,
      background,
      smallButtons: 0,
      smallText: 0,
      cut: [],
    });
    expect(wordsIn(await page.words())).toEqual(wordsIn(mail.text!));
    expect([page.requests, page.complaints]).toEqual([[], []]);
    await keep(page, `approval-mail-${scheme}`);
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

      expect(await facts(page)).toEqual({
        width: PHONE_WIDTH,
        background,
        smallButtons: 0,
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
      await keep(page, `decision-page-${scheme}`);
    },
  );

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
});
