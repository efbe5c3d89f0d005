import { describe, expect, it } from 'vitest';
import { parseRetryAfter } from './retry-after.js';

const NOW = Date.UTC(2027, 2, 28, 1, 30, 0);

describe('parseRetryAfter', () => {
  it.each([
    ['0', 0],
    ['120', 120],
    [' 7 ', 7],
    ['9999999999', 9_999_999_999],
    ['Sun, 28 Mar 2027 01:30:00 GMT', 0],
    ['Sun, 28 Mar 2027 01:31:30 GMT', 90],
    ['Sun, 28 Mar 2027 01:29:00 GMT', 0],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['Sunday, 28-Mar-27 01:31:00 GMT', 60],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
    ['Sun Mar 28 01:31:00 2027', 60],
    ['Thu Apr  1 01:30:00 2027', 4 * 86_400],
  ])('reads %j', (value, seconds) => {
    expect(parseRetryAfter(value, NOW)).toBe(seconds);
  });

  it('rounds a part of a second up', () => {
    expect(parseRetryAfter('Sun, 28 Mar 2027 01:30:02 GMT', NOW + 1)).toBe(2);
  });

  it.each([
    '',
    '-1',
    '+1',
    '1.5',
    '1e3',
    '0x10',
    '12345678901',
    'soon',
    '1, 2',
    '2027-03-28',
    '2027-03-28T01:31:00Z',
    'Sun, 28 Mar 2027 01:31:00 +0000',
    'Sun, 28 Mar 2027 01:31:00',
    'Sun, 28 March 2027 01:31:00 GMT',
    'Sun, 28 Mar 2027 25:00:00 GMT',
    'Sun, 99 Mar 2027 01:31:00 GMT',
    '28 Mar 2027 01:31:00 GMT',
  ])('makes nothing of %j', (value) => {
    expect(parseRetryAfter(value, NOW)).toBeUndefined();
  });
});
