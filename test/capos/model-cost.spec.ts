import { describe, expect, it } from 'vitest';
import { costOf } from '../../src/features/capos/model-client.js';
import { addCost } from '../../src/features/directives/directive.js';

describe('the cost of a run', () => {
  it.each([
    [0, 0, 3, 15, 0],
    [900, 120, 3, 15, 0.0045],
    [1_000_000, 0, 0.15, 0.6, 0.15],
    [0, 1_000_000, 0.15, 0.6, 0.6],
    // Half a millionth is rounded up, however it lies in binary.
    [5, 0, 0.1, 0, 0.000001],
    [4, 0, 0.1, 0, 0],
    [1, 0, 0.35, 1, 0],
    [15, 5, 0.1, 0.2, 0.000003],
    [2_000_000_000, 2_000_000_000, 999_999.999999, 999_999.999999, 3_999_999_999.996],
  ])(
    'is exact to a millionth: %i and %i tokens at %d and %d',
    (tokensIn, tokensOut, input, output, amount) => {
      expect(costOf(tokensIn, tokensOut, { input, output })).toBe(amount);
    },
  );

  it('adds up to what a person would write', () => {
    const cost = (amount: number) => ({ amount, currency: 'USD', tokensIn: 1, tokensOut: 2 });
    expect(addCost(cost(0.1), cost(0.2))).toEqual({
      amount: 0.3,
      currency: 'USD',
      tokensIn: 2,
      tokensOut: 4,
    });
  });
});
