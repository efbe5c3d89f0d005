import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import MarkdownIt from 'markdown-it';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { markdownOf } from '../../src/features/reports/report-outline.js';
import { reportMail } from '../../src/features/reports/report-mail.service.js';
import { Chromium, chromiumPath } from '../support/chromium.js';
import { fullReport, written } from './reports.js';

const IMAGES = join(import.meta.dirname, '../../docs/guides/images');
const HOSTILE = '</td></table><script>alert(1)</script> <img src="https://evil.example/x.png"> & "quoted"';
/** A program that renders whatever HTML it is given, and makes links of bare addresses. */
const client = new MarkdownIt({ html: true, linkify: true });
client.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
const about = { workspaceName: 'Northwind' } as const;

function mailOf(report = fullReport()) {
  const { subject, body } = reportMail(report, { ...about, format: 'email' });
  if (typeof body === 'string') throw new Error('the mail has no HTML');
  return { subject, text: body.text, html: body.html };
}

describe('the mail with a report', () => {
  it('is below 60 KB, however much capos have written', () => {
    const sections = Array.from({ length: 10 }, (_, n) =>
      written(`${HOSTILE}\n`.repeat(200), `Section ${n}`),
    );
    expect(Buffer.byteLength(mailOf().html)).toBeLessThan(60_000);
    const { html, text } = mailOf(fullReport(sections));
    expect(Buffer.byteLength(html)).toBeLessThan(60_000);
    expect(text).toContain('(the rest stands in the report)');
  });

  it('takes the words of others for text', () => {
    const report = fullReport([written(HOSTILE, HOSTILE)]);
    report.sections.revenue.events[0]!.description = HOSTILE;
    report.sections.approvalQueue.items[0]!.title = `${HOSTILE}\r\nBcc: eve@evil.example`;
    const { html, subject } = mailOf(report);
    expect(html).not.toMatch(/<(script|img|iframe|link|object|form)\b/);
    expect(html).not.toMatch(/ (src|background|srcset)="|url\(|@import/);
    expect(subject).not.toMatch(/[\r\n]/);
    expect(html).toContain('&lt;script&gt;');
  });

  it('says the same in both parts', () => {
    const { html, text } = mailOf(fullReport([written('All is well.')]));
    for (const words of [
      'Waiting for you',
      '42 directives executed',
      'All is well.',
      '11 more are not listed here.',
    ]) {
      expect(html).toContain(words);
      expect(text).toContain(words);
    }
  });

  it('says which approvals are urgent, whatever their priority', () => {
    const report = fullReport();
    for (const item of report.sections.approvalQueue.items) item.priority = 'medium';
    const listed = mailOf(report).text.match(/^- Mail to jane@acme\.example: .*$/gm)!;
    expect(listed).toHaveLength(20);
    expect(listed[3]).toMatch(/arrives on Friday \(urgent, Ops, medium priority, until .*\)$/);
    expect(listed.map((line) => line.includes('(urgent, '))).toEqual(listed.map((_, index) => index < 4));
  });

  it('has no link that a reader of the mail could not open', () => {
    const { html, text } = mailOf();
    expect(html).not.toMatch(/<a\b/);
    expect(text).not.toMatch(/https?:/);
  });

  it('warns while the kill switch is engaged', () => {
    const report = fullReport();
    report.sections.guardianState.mode = 'killed';
    expect(mailOf(report).text).toContain('! The kill switch is engaged');
  });

  it('has what is on, and nothing else', () => {
    const { sections, ...report } = fullReport();
    const { revenue } = sections;
    const { text } = mailOf({ ...report, sections: { revenue } } as ReturnType<typeof fullReport>);
    expect(text).toContain('Revenue');
    expect(text).not.toContain('Waiting for you');
  });
});

describe('the report as Markdown', () => {
  it('takes the words of others for text, and quotes what a capo wrote', () => {
    const report = fullReport([written(`# A heading of its own\n\n${HOSTILE}`, '# *Bold*')]);
    report.sections.approvalQueue.items[0]!.title = '# <b>One</b> [link](https://evil.example)\n# Two';
    const markdown = markdownOf(report);
    expect(markdown).toContain('> \\# A heading of its own\n>\n> \\</td\\>\\</table\\>\\<script\\>alert(1)');
    expect(client.render(markdown)).not.toMatch(/<(?:a|img|script|td|b)\b/);
    expect(markdown).toContain('## \\# \\*Bold\\*');
    expect(markdown).toContain('- \\# \\<b\\>One\\</b\\> \\[link\\](https:\\/\\/evil.example) # Two');
    expect(markdown.match(/^# /gm)).toHaveLength(1);
  });
});

const path = chromiumPath();
if (path === undefined)
  console.warn('SKIPPED: the mail with a report was not looked at, since no Chromium is on the PATH.');

describe.skipIf(path === undefined)('in a real browser', () => {
  let chromium: Chromium;
  beforeAll(async () => {
    chromium = await Chromium.start(path!);
  }, 60_000);
  afterAll(() => chromium?.close());

  it.each([
    [600, 'light', 'rgb(255, 255, 255)'],
    [600, 'dark', 'rgb(24, 24, 27)'],
    [320, 'light', 'rgb(255, 255, 255)'],
    [320, 'dark', 'rgb(24, 24, 27)'],
  ] as const)(
    '%i pixels wide and %s shows all of it, and loads nothing',
    async (width, scheme, background) => {
      const page = await chromium.phone(scheme, width);
      await page.show(mailOf(fullReport([written('Two offers are out: **Acme** and Globex.')])).html);
      const facts = await page.evaluate<{ width: number; background: string; cut: string[] }>(`(() => ({
      width: Math.max(document.documentElement.scrollWidth, document.body.scrollWidth),
      background: getComputedStyle(document.body).backgroundColor,
      cut: [...document.body.querySelectorAll('*')]
        .filter((e) => e.getBoundingClientRect().right > ${width} + 1).map((e) => e.outerHTML.slice(0, 100)),
    }))()`);
      expect(facts).toEqual({ width, background, cut: [] });
      expect([page.requests, page.complaints]).toEqual([[], []]);
      if (process.env['WRITE_IMAGES'] === undefined) return;
      // Of long lists a picture says no more than of short ones.
      const shown = fullReport([written('Two offers are out: Acme and Globex.')]);
      for (const list of [shown.sections.revenue.events, shown.sections.approvalQueue.items]) list.splice(3);
      await page.show(mailOf(shown).html);
      const picture = await page.picture();
      await mkdir(IMAGES, { recursive: true });
      await writeFile(join(IMAGES, `report-mail-${width}-${scheme}.webp`), picture);
    },
  );
});
