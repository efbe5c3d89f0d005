import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** Rows that stand behind anything but their table: a program that shows Markdown shows them as lines of bars. */
function rowsWithoutTable(text: string): string[] {
  const lines = text.replace(/^(`{3,})[^]*?^\1$/gm, '').split('\n');
  return lines.filter((line, at) => {
    const beginsOne = line.startsWith('|') && !lines[at - 1]?.startsWith('|');
    return beginsOne && !/^\|(?: *:?-+:? *\|)+$/.test(lines[at + 1] ?? '');
  });
}

it('every table of the documents is one, from its head to its last row', async () => {
  for await (const file of glob('{docs/**/*.md,README.md}', { cwd: ROOT })) {
    expect(rowsWithoutTable(await readFile(join(ROOT, file), 'utf8')), file).toEqual([]);
  }
});
