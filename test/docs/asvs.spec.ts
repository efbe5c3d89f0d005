import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasTest, missingOf, type NamedTest, ROOT, specOf, testsIn } from './named-tests.js';

const PAGE = join(ROOT, 'docs/security/asvs.md');

/** OWASP ASVS 5.0.0, chapters V6 to V10: the numbers of level 1. */
const LEVEL_1 = numbers(`
  6.1.1
  6.2.1 6.2.2 6.2.3 6.2.4 6.2.5 6.2.6 6.2.7 6.2.8
  6.3.1 6.3.2
  6.4.1 6.4.2
  7.2.1 7.2.2 7.2.3 7.2.4
  7.4.1 7.4.2
  8.1.1
  8.2.1 8.2.2
  8.3.1
  9.1.1 9.1.2 9.1.3
  9.2.1
  10.4.1 10.4.2 10.4.3 10.4.4 10.4.5`);

/** And those that level 2 adds. */
const LEVEL_2 = numbers(`
  6.1.2 6.1.3
  6.2.9 6.2.10 6.2.11 6.2.12
  6.3.3 6.3.4
  6.4.3 6.4.4
  6.5.1 6.5.2 6.5.3 6.5.4 6.5.5
  6.6.1 6.6.2 6.6.3
  6.8.1 6.8.2 6.8.3 6.8.4
  7.1.1 7.1.2 7.1.3
  7.3.1 7.3.2
  7.4.3 7.4.4 7.4.5
  7.5.1 7.5.2
  7.6.1 7.6.2
  8.1.2
  8.2.3
  8.4.1
  9.2.2 9.2.3 9.2.4
  10.1.1 10.1.2
  10.2.1 10.2.2
  10.3.1 10.3.2 10.3.3 10.3.4
  10.4.6 10.4.7 10.4.8 10.4.9 10.4.10 10.4.11
  10.5.1 10.5.2 10.5.3 10.5.4 10.5.5
  10.6.1 10.6.2
  10.7.1 10.7.2 10.7.3`);

function numbers(text: string): string[] {
  return text.trim().split(/\s+/);
}

const STATES = ['Held', 'Held in part', 'Not held', 'Does not apply'];

/** One item of the page's lists: `- **6.2.1** (1) What it asks. **Held**: how. `file` “test”.`; some name several numbers. */
interface Row {
  number: string;
  level: string;
  states: string[];
  text: string;
  tests: NamedTest[];
  links: string[];
}

function rowsOf(page: string): Row[] {
  const items = page.matchAll(/^- \*\*([\d., ]+)\*\* \((\d)\) ([^]*?)(?=^- |^#|^\n|$(?![^]))/gm);
  return [...items].flatMap(([, listed, level, lines]) => {
    const text = lines!.replace(/\s+/g, ' ').trim();
    return listed!.split(', ').map((number) => ({
      number,
      level: level!,
      text,
      states: [...text.matchAll(/\*\*([^*]+)\*\*/g)].map(([, state]) => state!),
      tests: testsIn(text),
      links: [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link!),
    }));
  });
}

/** The anchor that a heading has on the pages of the usual hosts. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const rows = rowsOf(await readFile(PAGE, 'utf8'));

describe('the page about OWASP ASVS', () => {
  it('is read by this test as it is written', () => {
    const written = [
      '- **1.2.3** (2) One thing.',
      '  **Held**: by this. Test: `a.spec.ts` “does it” and “does more”, `b/c.spec.ts` “too”.',
      '- **1.2.4, 1.2.5** (1) Another. **Does not apply**: there is [none](access.md#here).',
      '',
      'Text with **words**.',
    ].join('\n');
    const [first, second, third, ...more] = rowsOf(written);
    expect(more).toEqual([]);
    expect([second!.number, third]).toEqual(['1.2.4', { ...second, number: '1.2.5' }]);
    expect(first).toMatchObject({ number: '1.2.3', level: '2', states: ['Held'], links: [] });
    expect(first!.tests).toEqual([
      { file: 'a.spec.ts', name: 'does it' },
      { file: 'a.spec.ts', name: 'does more' },
      { file: 'b/c.spec.ts', name: 'too' },
    ]);
    expect(second).toMatchObject({ states: ['Does not apply'], tests: [], links: ['access.md#here'] });
  });

  it('knows a test by its name, one of a table by its case too, and none that is skipped', () => {
    const spec = specOf(
      'a.spec.ts',
      `describe('it all', () => {
        it.each([['that is late', 1], ['that is early', 2]])('refuses a token %s', () => {});
        it.each(cases)('$number opens', () => {});
        it('opens once', () => {});
        it.skip('is skipped', () => {});
      });`,
    );
    const known = ['it all', 'refuses a token that is late', 'refuses a token %s', 'opens once'];
    expect(known.filter((name) => !hasTest(spec, name))).toEqual([]);
    const unknown = ['refuses a token that is none', 'refuses', 'is skipped', 'that is late', 'opens'];
    expect(unknown.filter((name) => hasTest(spec, name))).toEqual([]);
  });

  it('has each requirement of levels 1 and 2 exactly once, in order, with its level', () => {
    const expected = [
      ...LEVEL_1.map((number) => ({ number, level: '1' })),
      ...LEVEL_2.map((number) => ({ number, level: '2' })),
    ].toSorted((a, b) => a.number.localeCompare(b.number, 'en', { numeric: true }));
    expect(expected).toHaveLength(96);
    expect(rows.map(({ number, level }) => ({ number, level }))).toEqual(expected);
  });

  it.each(rows)('$number says what holds it, or why nothing does', ({ states, tests, links, text }) => {
    expect(states).toEqual([expect.toBeOneOf(STATES)]);
    const [before, after] = text.split(`**${states[0]}**: `);
    expect(before!.length).toBeGreaterThan(15);
    expect(after!.length).toBeGreaterThan(15);
    if (states[0]!.startsWith('Held')) expect(tests.length + links.length).toBeGreaterThan(0);
  });

  it('names only tests that there are', async () => {
    const named = rows.flatMap(({ number, tests }) => tests.map((test) => ({ number, ...test })));
    expect(named.length).toBeGreaterThan(50);
    expect(await missingOf(named)).toEqual([]);
  });

  it('links to headings that there are', async () => {
    const missing = await Promise.all(
      rows.flatMap(({ number, links }) =>
        links.map(async (link) => {
          const [path, anchor] = link.split('#');
          const target = join(dirname(PAGE), path!);
          if (!existsSync(target)) return `${number}: ${link}`;
          const headings = (await readFile(target, 'utf8')).matchAll(/^#+ (.+)$/gm);
          const anchors = [...headings].map(([, heading]) => anchorOf(heading!));
          return anchor === undefined || anchors.includes(anchor) ? undefined : `${number}: ${link}`;
        }),
      ),
    );
    expect(missing.filter(Boolean)).toEqual([]);
  });

  it('is found from docs/security.md', async () => {
    const page = await readFile(join(ROOT, 'docs/security.md'), 'utf8');
    expect(page.includes('](security/asvs.md)')).toBe(true);
  });
});
