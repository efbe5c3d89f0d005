import { describe, expect, it } from 'vitest';
import { OUTSIDE_TRIES, outsideBackoffMs } from './backoff.js';

const MINUTE = 60_000;
const minutes = (failures: number, answered: boolean) => outsideBackoffMs(failures, answered) / MINUTE;

describe('the waits between attempts at something outside', () => {
  it('are those of a mail server, a tenth longer or shorter, where it has asked to wait', () => {
    for (const [index, wait] of [1, 5, 15, 30, 60, 60].entries()) {
      expect(minutes(index + 1, true)).toBeGreaterThanOrEqual(wait * 0.9);
      expect(minutes(index + 1, true)).toBeLessThanOrEqual(wait * 1.1);
    }
    expect(minutes(4, true)).not.toBe(minutes(4, true));
  });

  it('begin with seconds where nobody has answered', () => {
    expect([1, 2, 3].map((failures) => outsideBackoffMs(failures, false))).toEqual([1_000, 4_000, 16_000]);
    expect(minutes(4, false)).toBeLessThanOrEqual(1.1);
  });

  it.each([true, false])('last for more than a day in all (answered: %s)', (answered) => {
    let waited = 0;
    for (let failures = 1; failures < OUTSIDE_TRIES; failures++)
      waited += outsideBackoffMs(failures, answered);
    expect(waited).toBeGreaterThan(24 * 60 * MINUTE);
  });
});
