import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { validateAction } from '../../src/features/capos/action-types.js';
import { draftFrom } from '../../src/features/capos/builtin/draft.js';
import { CAPO_ROLES, engineOf } from '../../src/features/capos/capo.js';
import { briefing } from './briefings.js';

/** Words that the reader reacts to, in any order: most of what comes out is nonsense that almost makes sense. */
const WORDS = (
  'email send tell ask remind thank apologise invite announce follow up schedule let know update record log flag have ' +
  'write draft summarise her him them she they their his me us Ada Bob Lovelace ada@example.com jo@acme.com that whether ' +
  'about to the a for from with and then is are moved will ship please short formal demo invoice proposal report post ' +
  'checklist subject cc marketing ops 1,200 EUR 2k $5 10% Friday tomorrow next week by end of month 2026-12-01 , . ; : " “ ” ( ) - * #'
).split(' ');

const nonsense = fc.array(fc.constantFrom(...WORDS), { maxLength: 50 }).map((words) => words.join(' '));
const unicode = fc.string({ unit: 'binary', maxLength: 300 });
const anyText = fc.oneof(
  nonsense,
  unicode,
  fc.tuple(nonsense, unicode).map((both) => both.join('')),
);
const anyContext = fc.option(
  fc.dictionary(
    fc.constantFrom(
      'to',
      'email',
      'recipients',
      'customer',
      'name',
      'cc',
      'text',
      'currency',
      'source',
      '__proto__',
    ),
    fc.oneof(fc.constantFrom('ada@x.com', 'Ada <ada@x.com>', ['b@x.com']), unicode, fc.jsonValue()),
  ),
);
const anyCapo = fc.constantFrom(...CAPO_ROLES);

describe('the built-in draft', () => {
  it('always comes, always the same, and only with packets that the registry accepts', () => {
    fc.assert(
      fc.property(
        anyText,
        anyCapo,
        fc.array(anyText, { maxLength: 2 }),
        anyContext,
        (text, capo, feedback, context) => {
          const given = briefing(text, capo, { feedback, directive: { context } });
          const draft = draftFrom(given);
          expect(draftFrom(given)).toEqual(draft);
          expect(draft.summary).not.toBe('');
          expect(draft.packets.length).toBeGreaterThan(0);
          for (const { type, params, title, target, rationale } of draft.packets) {
            expect(validateAction(engineOf(capo), type, params)).toMatchObject({ ok: true });
            expect(title.length).toBeLessThanOrEqual(200);
            expect([title, target, rationale]).not.toContain('');
          }
        },
      ),
      { numRuns: 1500 },
    );
  });

  it('never leaves a placeholder, a stray value or a word about itself', () => {
    fc.assert(
      fc.property(nonsense, anyCapo, (text, capo) => {
        const { body, packets } = draftFrom(briefing(text, capo));
        const written = [body, ...packets.map((packet) => JSON.stringify(packet))].join('\n');
        expect(written).not.toMatch(
          /\[[A-Z][a-z ]+\]|\{\{|undefined|null|NaN|\[object|TODO|TBD|lorem|as an AI|language model/,
        );
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['one word', 'a'.repeat(200_000)],
    ['half addresses', 'a@'.repeat(100_000)],
    ['links between people', ' to Ada and'.repeat(20_000)],
    ['dates', 'Friday '.repeat(30_000)],
    ['numbers', '1 '.repeat(100_000)],
    ['quotes', '"'.repeat(100_000)],
    ['spaces', ' '.repeat(200_000)],
    ['pronouns', `tell Ada that ${'she and her '.repeat(20_000)}`],
  ])('is made in bounded time from a text that is all %s', (_case, text) => {
    const start = performance.now();
    for (const capo of ['capo_revenue', 'ceo'] as const)
      draftFrom(briefing(text, capo, { feedback: [text] }));
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});
