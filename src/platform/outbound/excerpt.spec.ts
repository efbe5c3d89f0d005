import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { excerptOf } from './excerpt.js';

describe('excerptOf', () => {
  it.each([
    ['nothing', Buffer.alloc(0), ''],
    ['text', Buffer.from('{"ok":true}\r\n'), '{"ok":true}\n'],
    ['text in UTF-8', Buffer.from('Grüße 🎩'), 'Grüße 🎩'],
    ['NUL', Buffer.from('a\0b'), 'a\uFFFDb'],
    [
      'other control characters',
      Buffer.from('a\u0007\u001b[2J\tb\rc\u009fd'),
      'a\uFFFD\uFFFD[2J\tb\uFFFDc\uFFFDd',
    ],
    ['bytes that are no UTF-8', Buffer.from([0x61, 0xff, 0xc0, 0x62]), 'a\uFFFD\uFFFDb'],
    ['a lone surrogate', Buffer.from([0xed, 0xa0, 0x80]), '\uFFFD\uFFFD\uFFFD'],
    ['2048 bytes', Buffer.alloc(2048, 'x'), 'x'.repeat(2048)],
    ['more', Buffer.alloc(70_000, 'x'), 'x'.repeat(2048)],
    ['a character cut in two', Buffer.from(`${'x'.repeat(2046)}🎩`), 'x'.repeat(2046)],
    ['a letter cut off from its mark', Buffer.from(`${'x'.repeat(2046)}e\u0301`), 'x'.repeat(2046)],
    ['a mark that just misses', Buffer.from(`${'x'.repeat(2047)}e\u0301`), 'x'.repeat(2047)],
    ['a character that just fits', Buffer.from(`${'x'.repeat(2044)}🎩`), `${'x'.repeat(2044)}🎩`],
  ])('keeps %s', (_case, bytes, text) => {
    expect(excerptOf(bytes)).toBe(text);
  });

  it('is at most 2048 bytes of UTF-8 that PostgreSQL takes, whatever was sent', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 4096, size: 'max' }), (bytes) => {
        const text = excerptOf(bytes);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2048);
        expect(text.isWellFormed()).toBe(true);
        // oxlint-disable-next-line no-control-regex -- none of them is left
        expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      }),
    );
  });
});
