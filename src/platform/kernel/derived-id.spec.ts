import { describe, expect, it } from 'vitest';
import { derivedId, timeOfId, isId } from './ids.js';

const WORKSPACE = 'wks_01kerpxzm0g7k7xtwmhd8ah2pd';
const DAY = Date.parse('2026-02-17');

describe('an id that follows from what it is of', () => {
  it.each([
    ['a Daily Report', `${WORKSPACE} 2026-02-17`, DAY, 'rpt_01khmeb300zrd0m2d33wqsx3zt'],
    ['a family report', `family report ${WORKSPACE} 2026-02-17 all`, DAY, 'rpt_01khmeb30058kv05qr7cazfrfa'],
    ['a day before 1970', `${WORKSPACE} 1969-12-31`, -86_400_000, 'rpt_00000000007xes68m4ntehqf4q'],
  ])('is the one that records of %s have had from the first', (_what, of, at, id) => {
    expect(derivedId('rpt', at, of)).toBe(id);
    expect(isId('rpt', id)).toBe(true);
  });

  it('names its time', () => {
    expect(timeOfId('rpt', derivedId('rpt', DAY, 'anything'))).toBe(DAY);
  });

  it.each(['rpt_', 'nonsense', 'dir_01khmeb300zrd0m2d33wqsx3zt', 'rpt_81khmeb300zrd0m2d33wqsx3zt'])(
    'has no time where %j is none',
    (text) => {
      expect(timeOfId('rpt', text)).toBeUndefined();
    },
  );
});
