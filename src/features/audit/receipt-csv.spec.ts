import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvCell } from './receipt-view.js';

/** Reads one cell the way RFC 4180 has it. */
function read(cell: string): string {
  if (!cell.startsWith('"')) return cell;
  expect(cell).toMatch(/^"([^"]|"")*"$/);
  return cell.slice(1, -1).replaceAll('""', '"');
}

describe('a cell', () => {
  it.each([
    ['=1+1', "'=1+1"],
    ['+49 30 1', "'+49 30 1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', '"\'\r=1"'],
    ['=1,"2"', '"\'=1,""2"""'],
    ['a\nb', '"a\nb"'],
    ['a=1', 'a=1'],
    [-1, '-1'],
    [0, '0'],
    [null, ''],
    ['', ''],
  ])('holds %j as %s', (value, cell) => {
    expect(csvCell(value)).toBe(cell);
  });

  it('gives every text back, and none as a formula', () => {
    const texts = fc.string({
      unit: fc.oneof(fc.constantFrom(...'=+-@\t\r\n",\''), fc.string({ unit: 'grapheme' })),
    });
    fc.assert(
      fc.property(texts, (text) => {
        const cell = read(csvCell(text));
        expect(cell).not.toMatch(/^[=+\-@\t\r]/);
        expect([text, `'${text}`]).toContain(cell);
      }),
    );
  });
});
