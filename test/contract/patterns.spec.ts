import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';

const REFERENCE = join(import.meta.dirname, '../../docs/reference');

/** Every `pattern` in a document, with its place. */
function* patternsIn(node: unknown, place: string): Generator<[place: string, pattern: string]> {
  if (typeof node !== 'object' || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    if (key === 'pattern' && typeof value === 'string') yield [place, value];
    else yield* patternsIn(value, `${place}/${key}`);
  }
}

const patterns = readdirSync(REFERENCE)
  .filter((file) => file.endsWith('.json'))
  .flatMap((file) => [...patternsIn(JSON.parse(readFileSync(join(REFERENCE, file), 'utf8')), file)]);

const PYTHON = `
import json, re, sys
for place, pattern in json.load(sys.stdin):
    try:
        re.compile(pattern)
    except re.error as error:
        print(place, error)
`;

const hasPython = spawnSync('python3', ['--version']).status === 0;

describe('every pattern of the documents compiles', () => {
  it('in Go, whose expressions are those of RE2', () => {
    expect(patterns.length).toBeGreaterThan(50);
    const wrong = patterns.filter(([, pattern]) => {
      try {
        RE2JS.compile(pattern);
        return false;
      } catch {
        return true;
      }
    });
    expect(wrong).toEqual([]);
  });

  it.runIf(hasPython)('in Python', () => {
    const { stdout, stderr } = spawnSync('python3', ['-c', PYTHON], {
      input: JSON.stringify(patterns),
      encoding: 'utf8',
    });
    expect(stdout + stderr).toBe('');
  });
});
