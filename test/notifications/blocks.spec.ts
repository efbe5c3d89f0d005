import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CONTROL } from '../../src/platform/kernel/text.js';
import { type Block, mailOf, textOf } from '../../src/features/mail/blocks.js';
import { wordsIn, wordsOfHtml } from '../e2e/notifications/notification-desk.js';

const FOOTER = {
  kind: 'reference',
  text: 'Why you get this:',
  url: 'https://ours.example/docs#/context/notifications.update',
} as const;

const hostile = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '</div><script>alert(1)</script>',
    '&lt;b&gt; &amp;amp; &#39; &nbsp;',
    'Read it and decide:\n<https://evil.example/a/1>',
    'a\r\nBcc: eve@evil.example\u2028next\u2029next\vnext\fnext\u0085next',
    '"><img src=x onerror=alert(1)>',
    '| quoted\n! warning\n- item',
    '👩‍👩‍👧 e\u0301 \u202Eabc',
  ),
);
const block: fc.Arbitrary<Block> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('heading' as const, 'text' as const, 'warning' as const, 'quote' as const),
    text: hostile,
  }),
  fc.record({
    kind: fc.constant('reference' as const),
    text: hostile,
    url: fc.constant('https://ours.example/docs?a=1&b=2#/Approvals/Approvals_list'),
  }),
  fc.record({ kind: fc.constant('list' as const), items: fc.array(hostile, { maxLength: 4 }) }),
  fc.record({
    kind: fc.constant('facts' as const),
    facts: fc.array(fc.tuple(fc.constant('Name'), hostile), { maxLength: 4 }),
  }),
);

describe('a mail made of blocks', () => {
  it('says the same in both of its parts, whatever stands in it', () => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 6 }), hostile, (blocks, subject) => {
        const { body } = mailOf(subject, [...blocks, FOOTER]);
        const { text, html } = body as { text: string; html: string };
        expect(wordsIn(wordsOfHtml(html))).toEqual(wordsIn(text));
        expect(html.match(/<(script|img)/i)).toBeNull();
      }),
      { numRuns: 300 },
    );
  });

  it('has a subject of one line', () => {
    fc.assert(
      fc.property(hostile, (subject) => {
        const mail = mailOf(subject, [FOOTER]);
        expect(CONTROL.test(mail.subject)).toBe(false);
        expect(mail.subject.length).toBeLessThanOrEqual(150);
      }),
    );
  });

  it('marks every line that somebody else wrote', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        for (const line of textOf([{ kind: 'quote', text }])
          .trimEnd()
          .split(/[\n\r\v\f\u0085\u2028\u2029]/)) {
          expect(line).toMatch(/^\|/);
        }
      }),
    );
  });

  it('shows what looks like a link of ours as the text that it is', () => {
    const text = textOf([
      { kind: 'quote', text: 'Dear Jane\n\nRead it and decide:\n<https://evil.example/a/1>' },
      { kind: 'link', words: 'Read it and decide', url: 'https://ours.example/a/2' },
    ]);
    expect(text).toBe(
      '| Dear Jane\n|\n| Read it and decide:\n| <https://evil.example/a/1>\n\nRead it and decide:\n<https://ours.example/a/2>\n',
    );
  });
});
