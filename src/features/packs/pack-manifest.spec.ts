import { describe, expect, it } from 'vitest';
import { compareVersions, contentHash, lookAlikeKey } from './pack-manifest.js';

describe('compareVersions', () => {
  it.each([
    ['1.0.0', '1.0.0', 0],
    ['1.10.0', '1.9.9', 1],
    ['1.9.9', '1.10.0', -1],
    ['2.0.0', '1.999999.999999', 1],
    ['0.0.1', '0.0.2', -1],
  ])('holds %s against %s as numbers', (a, b, sign) => {
    expect(Math.sign(compareVersions(a, b))).toBe(sign);
  });
});

describe('lookAlikeKey', () => {
  it.each([
    ['invoice-reminders', 'lnvoice-reminders'],
    ['invoice-reminders', 'invoicereminders'],
    ['invoice-reminders', 'invoice-rerninders'],
    ['pools', 'p0o1s'],
    ['web-shop', 'vveb-5hop'],
  ])('is one for %s and %s', (a, b) => {
    expect(lookAlikeKey(a)).toBe(lookAlikeKey(b));
  });

  it('is another for names that people tell apart', () => {
    const names = [
      'invoice-reminders',
      'order-delay-notices',
      'invoice-notices',
      'reminders',
      'delay-notices',
    ];
    expect(new Set(names.map(lookAlikeKey)).size).toBe(names.length);
  });
});

describe('contentHash', () => {
  it('does not go by the order of keys', () => {
    expect(contentHash({ a: 1, b: { c: 2, d: 3 } })).toBe(contentHash({ b: { d: 3, c: 2 }, a: 1 }));
    expect(contentHash([1, 2])).not.toBe(contentHash([2, 1]));
  });
});
