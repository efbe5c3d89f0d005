import { describe, expect, it } from 'vitest';
import type { Effect } from '../standing-orders/index.js';
import { outcomeOfDraft } from './ready-content.js';

describe('what comes of a draft as a whole', () => {
  it.each<[Effect[], string[], Effect]>([
    [['allow', 'allow'], [], 'allow'],
    [['allow', 'throttle'], [], 'throttle'],
    [['throttle', 'require_approval'], [], 'require_approval'],
    [['require_approval', 'deny', 'allow'], [], 'deny'],
    // A person is asked, whatever the orders allow or delay; what they deny stays denied.
    [['allow'], ['It lacks something.'], 'require_approval'],
    [['throttle'], ['It lacks something.'], 'require_approval'],
    [['deny'], ['It lacks something.'], 'deny'],
    [[], [], 'require_approval'],
    [[], ['It lacks something.'], 'require_approval'],
  ])('of %j with the reasons %j is %s', (outcomes, reasons, expected) => {
    const decisions = outcomes.map((outcome) => ({ outcome }));
    expect(outcomeOfDraft(decisions, reasons)).toBe(expected);
  });
});
