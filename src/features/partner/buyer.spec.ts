import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Buyer,
  type BuyerChange,
  changeOf,
  type KnownMetric,
  weakestFirst,
  METRICS,
} from './confidence-update.js';

const told = (metric: KnownMetric['metric'], newConfidence: number, firedAt = 0) => ({
  metric,
  newConfidence,
  firedAt,
});
const known = (metric: KnownMetric['metric'], confidence: number, firedAt = 0): KnownMetric => ({
  metric,
  confidence,
  firedAt,
});

describe('an update', () => {
  it('makes its buyer', () => {
    expect(changeOf([], told('trust', 0.4, 7))).toEqual({
      metric: { metric: 'trust', confidence: 0.4, firedAt: 7 },
      metricBefore: null,
      buyer: { confidence: 0.4, topGap: 'trust', updatedAt: 7 },
      buyerBefore: null,
    });
  });

  it('adds a metric: the mean and the gap follow', () => {
    expect(changeOf([known('trust', 0.4, 7)], told('urgency', 0.2, 5))).toMatchObject({
      metricBefore: null,
      buyer: { confidence: expect.closeTo(0.3, 12), topGap: 'urgency', updatedAt: 7 },
      buyerBefore: 0.4,
    });
  });

  it('leaves the confidence to overall, as soon as there is one', () => {
    const before = [known('trust', 0.4, 1), known('overall', 0.9, 2)];
    expect(changeOf(before, told('urgency', 0.1, 3))).toMatchObject({
      buyer: { confidence: 0.9, topGap: 'urgency', updatedAt: 3 },
      buyerBefore: 0.9,
    });
    expect(changeOf([], told('overall', 0.9))).toMatchObject({ buyer: { confidence: 0.9, topGap: null } });
  });

  it.each([
    [1, undefined],
    [2, 0.8],
    [3, 0.8],
  ])('fired at %d after one of 2 leaves %s', (firedAt, confidence) => {
    const change = changeOf([known('trust', 0.4, 2)], told('trust', 0.8, firedAt));
    expect(change?.metric.confidence).toBe(confidence);
    expect(change?.metricBefore).toBe(confidence === undefined ? undefined : 0.4);
  });

  it('leaves the same buyer in whatever order many arrive', () => {
    const update = fc.record({
      metric: fc.constantFrom(...METRICS),
      newConfidence: fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100),
      firedAt: fc.nat(1_000_000),
    });
    const several = fc.uniqueArray(update, {
      minLength: 1,
      maxLength: 12,
      selector: ({ firedAt }) => firedAt,
    });
    const orders = several.chain((updates) =>
      fc.tuple(
        fc.constant(updates),
        fc.shuffledSubarray(updates, { minLength: updates.length, maxLength: updates.length }),
      ),
    );
    fc.assert(
      fc.property(orders, ([one, other]) => {
        const [first, second] = [inOrder(one), inOrder(other)];
        expect(second.buyer).toEqual(first.buyer);
        expect(second.known).toEqual(first.known);
        // What each change takes away is what the one before it had put there.
        expect(second.confidence).toBeCloseTo(first.buyer!.confidence, 9);
      }),
      { numRuns: 500 },
    );
  });
});

/** What is known at the end, and the sum of all changes of the buyer's confidence. */
function inOrder(updates: readonly ReturnType<typeof told>[]) {
  let metrics: KnownMetric[] = [];
  let buyer: Buyer | undefined;
  let confidence = 0;
  for (const update of updates) {
    const change: BuyerChange | undefined = changeOf(metrics, update);
    if (!change) continue;
    metrics = [...metrics.filter(({ metric }) => metric !== update.metric), change.metric];
    buyer = change.buyer;
    confidence += change.buyer.confidence - (change.buyerBefore ?? 0);
  }
  return { buyer, confidence, known: metrics.toSorted((a, b) => a.metric.localeCompare(b.metric)) };
}

describe('the weakest first', () => {
  it('leaves overall out, and is decided by the name where the confidence is the same', () => {
    const metrics = [
      known('overall', 0),
      known('urgency', 0.2),
      known('authority', 0.2),
      known('trust', 0.1),
    ];
    expect(weakestFirst(metrics)).toEqual(['trust', 'authority', 'urgency']);
  });
});
