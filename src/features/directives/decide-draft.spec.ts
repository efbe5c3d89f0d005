import { describe, expect, it } from 'vitest';
import type { Concern } from '../capos/index.js';
import type { Effect } from '../standing-orders/index.js';
import { type DraftVerdict, verdictOn } from './decide-draft.js';

interface Given {
  outcomes: Effect[];
  requiresApproval?: boolean;
  /** Whether an approval is open. */
  isAsked?: boolean;
  isLacking?: boolean;
  concerns?: Concern[];
}

const CONCERN: Concern = { risk: 'high', reason: 'It names a place that nobody named.' };

function verdict({
  outcomes,
  requiresApproval = false,
  isAsked = false,
  isLacking = false,
  concerns = [],
}: Given) {
  const needsInput = isLacking ? [{ path: 'params.to', message: 'Whom does it go to?' }] : [];
  return verdictOn({
    directive: { requiresApproval },
    approval: isAsked ? {} : undefined,
    draft: { concerns },
    packets: outcomes.map(() => ({ title: 'A mail', needsInput })),
    policy: outcomes.map((outcome) => ({ decision: { outcome } })),
  });
}

describe('the verdict on a draft', () => {
  it.each<[Given, DraftVerdict]>([
    [{ outcomes: ['allow', 'allow'] }, 'release'],
    [{ outcomes: ['allow', 'throttle'] }, 'release'],
    [{ outcomes: ['allow', 'require_approval'] }, 'review'],
    [{ outcomes: ['allow'], isLacking: true }, 'review'],
    [{ outcomes: ['allow'], concerns: [CONCERN] }, 'review'],
    // Who wants to see it sees it, whatever the orders allow.
    [{ outcomes: ['allow'], requiresApproval: true }, 'review'],
    [{ outcomes: ['allow'], isAsked: true }, 'review'],
    // Nothing is in it that anybody could approve.
    [{ outcomes: [], requiresApproval: true }, 'end'],
    [{ outcomes: [], isAsked: true }, 'end'],
    [{ outcomes: [] }, 'end'],
    [{ outcomes: [], concerns: [CONCERN] }, 'end'],
    // What an order forbids nobody is asked about.
    [{ outcomes: ['allow', 'deny'] }, 'deny'],
    [{ outcomes: ['deny'], requiresApproval: true, isAsked: true }, 'deny'],
    [{ outcomes: ['deny'], isLacking: true, concerns: [CONCERN] }, 'deny'],
  ])('for %j is %s', (given, expected) => {
    expect(verdict(given)).toBe(expected);
  });
});
