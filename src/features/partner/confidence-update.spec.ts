import { describe, expect, it } from 'vitest';
import {
  type ConfidenceUpdate,
  contentHash,
  isConsistent,
  isFresh,
  severityOf,
  wordingOf,
} from './confidence-update.js';

const UPDATE: ConfidenceUpdate = {
  customerEntitlementId: 'ent-1',
  partnerTargetId: 'target-1',
  partnerEventId: 'pev-1',
  metric: 'solution_fit',
  delta: 0.125,
  newConfidence: 0.5,
  priorConfidence: 0.375,
  sourceServiceRef: { table: 'calls', id: '9' },
  firedAt: 1_800_000_000_000,
};

describe('freshness', () => {
  const now = 1_800_000_000_500;

  it.each([
    [0, true],
    [300_000, true],
    [-300_000, true],
    // Within its second a request may have been under way for long.
    [300_500, true],
    [301_000, false],
    [-301_000, false],
    [1e300, false],
  ])('of an update fired %d ms before now is %s', (age, fresh) => {
    expect(isFresh(now - age, now)).toBe(fresh);
  });
});

describe('the three figures', () => {
  it.each([
    [0.5, 0.1, 0.6, true],
    [0.5, 0.1, 0.59, true],
    [0.5, 0.1, 0.61, true],
    [0.5, 0.1, 0.5899, false],
    [0.5, 0.1, 0.6101, false],
    [0.95, 0.1, 1, false],
    [0.1, 0.2, 0.3, true],
    [1, -1, 0.01, true],
  ])('%d with %d makes %d: %s', (prior, delta, newConfidence, consistent) => {
    expect(isConsistent(prior, delta, newConfidence)).toBe(consistent);
  });
});

describe('the content hash', () => {
  it('is the same for the same content in another order', () => {
    const reversed = Object.fromEntries(Object.entries(UPDATE).toReversed()) as unknown as ConfidenceUpdate;
    expect(contentHash(reversed)).toBe(contentHash(UPDATE));
  });

  it('is another for any other content', () => {
    const changes: Partial<ConfidenceUpdate>[] = [
      { customerEntitlementId: 'ent-2' },
      { partnerTargetId: 'target-2' },
      { partnerEventId: 'pev-2' },
      { metric: 'overall' },
      { delta: 0.126 },
      { newConfidence: 0.501 },
      { priorConfidence: null },
      { sourceServiceRef: null },
      { sourceServiceRef: { table: 'calls', id: '10' } },
      { firedAt: UPDATE.firedAt + 1 },
    ];
    const hashes = changes.map((change) => contentHash({ ...UPDATE, ...change }));
    expect(new Set([contentHash(UPDATE), ...hashes]).size).toBe(changes.length + 1);
  });
});

describe('the severity', () => {
  it.each([
    [-1, 'critical'],
    [-0.3, 'critical'],
    [-0.299, 'warning'],
    [-0.1, 'warning'],
    [-0.099, 'info'],
    [0.9, 'info'],
  ])('of a change of %d is %s', (delta, severity) => {
    expect(severityOf(delta)).toBe(severity);
  });
});

describe('the wording', () => {
  it.each<[Partial<ConfidenceUpdate>, string, string]>([
    [{}, 'Solution fit of buyer ent-1 rose to 50 %', 'Solution fit rose from 38 % by 13 points to **50 %**.'],
    [
      { delta: -0.01, priorConfidence: null, metric: 'overall' },
      'Overall confidence of buyer ent-1 fell to 50 %',
      'Overall confidence fell by 1 point to **50 %**.',
    ],
    [{ delta: 0.004 }, 'Solution fit of buyer ent-1 stays at 50 %', 'Solution fit is at **50 %**.'],
    [
      { delta: 0, newConfidence: -0 },
      'Solution fit of buyer ent-1 stays at 0 %',
      'Solution fit is at **0 %**.',
    ],
  ])('of %j is for a person', (change, title, body) => {
    expect(wordingOf({ ...UPDATE, ...change })).toEqual({ title, body });
  });
});
