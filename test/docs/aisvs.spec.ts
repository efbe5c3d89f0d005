import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { missingOf, readSpec, ROOT, testsIn } from './named-tests.js';

/** OWASP AISVS 1.01: the kill switch of C9.1, and all of C9.2. */
const NUMBERS = ['9.1.3', ...Array.from({ length: 11 }, (_, index) => `9.2.${index + 1}`)];
const STATES = ['Held', 'Held in part', 'Not held', 'Does not apply'];

const page = await readFile(join(ROOT, 'docs/security.md'), 'utf8');
const rows = [...page.matchAll(/^\| (9\.\d+\.\d+) +\|(.*)\|$/gm)].map(([, number, rest]) => {
  const [asks, state, how, tests] = rest!.split('|').map((cell) => cell.trim());
  return { number: number!, asks: asks!, state: state!, how: how!, tests: testsIn(tests ?? '') };
});

describe('the table about OWASP AISVS', () => {
  it('has each requirement exactly once, in order', () => {
    expect(rows.map(({ number }) => number)).toEqual(NUMBERS);
  });

  it.each(rows)('$number says what holds it, or why nothing does', ({ number, asks, state, how, tests }) => {
    expect(STATES).toContain(state);
    expect(asks.length).toBeGreaterThan(15);
    expect(how.length).toBeGreaterThan(15);
    if (!state.startsWith('Held')) return expect(tests).toEqual([]);
    const own = tests.filter(({ file }) => file === 'test/security/aisvs.spec.ts');
    expect(own).toEqual([
      expect.objectContaining({ name: expect.stringMatching(new RegExp(`^${number}: `)) }),
    ]);
  });

  it('names only tests that there are', async () => {
    expect(await missingOf(rows.flatMap(({ tests }) => tests))).toEqual([]);
  });

  it('has a row for each test with a number', async () => {
    const { titles } = await readSpec('test/security/aisvs.spec.ts');
    const tested = titles.flatMap((title) => /^(9\.\d+\.\d+): /.exec(title)?.[1] ?? []);
    const held = rows.filter(({ state }) => state.startsWith('Held')).map(({ number }) => number);
    expect(tested).toEqual(held);
  });
});
