import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Sums, FiguresOfReceipts } from '../../src/features/verifier/report-figures.js';

const sumOf = (digits: number, ...amounts: number[]) => {
  const sums = new Sums(digits);
  for (const amount of amounts) sums.add(amount, 'USD');
  return sums.in('USD');
};

describe('sums', () => {
  it('are exact', () => {
    expect(sumOf(6, 0.1, 0.2)).toBe(0.3);
    expect(sumOf(6, -999.999994, 1_000)).toBe(0.000006);
    expect(sumOf(4, 1e15, 0.0001, -1e15)).toBe(0.0001);
    expect(sumOf(6, 1e294, 1, -1e294)).toBe(1);
  });

  it.each([1e21, -1e21, 1e294, 1.5e300, Number.MAX_VALUE, 2 ** 53, 2 ** 53 - 1, -0, 5e-324])(
    'take %s',
    (amount) => expect(sumOf(6, amount)).toBe(Number(amount.toFixed(6)) + 0),
  );

  it.each([NaN, Infinity, -Infinity])('count %s as 0', (amount) => expect(sumOf(6, 1, amount)).toBe(1));

  it('never throw, and are always a number that JSON holds', () => {
    fc.assert(
      fc.property(fc.array(fc.double()), fc.constantFrom(0, 4, 6), (amounts, digits) => {
        expect(Number.isFinite(sumOf(digits, ...amounts))).toBe(true);
      }),
    );
    expect(sumOf(6, Number.MAX_VALUE, Number.MAX_VALUE)).toBe(Number.MAX_VALUE);
  });
});

describe('the figures of receipts', () => {
  const anyNumber = fc.oneof(fc.double(), fc.constantFrom(1e300, -1e9, 1.5, '12', null, {}));

  it('are made whatever numbers the receipts hold', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyNumber, anyNumber, anyNumber)), (all) => {
        const figures = new FiguresOfReceipts();
        for (const [amount, tokensIn, tokensOut] of all) {
          const entity = { type: 'directive', id: 'dir_1' };
          const of = {
            capo: 'capo_ops',
            entity,
            directiveId: 'dir_1',
            receiptId: 'rcp_1',
            at: 0,
            summary: '',
          } as const;
          const cost = { amount, currency: 'USD', tokensIn, tokensOut };
          figures.receipt({ ...of, action: 'directive.drafted', details: { cost } });
          figures.receipt({ ...of, action: 'revenue.recorded', details: { amount, currency: 'EUR' } });
          figures.receipt({ ...of, action: 'directive.sending', details: { packets: tokensIn } });
          figures.receipt({
            ...of,
            action: 'partner.confidence_updated',
            details: { metric: 'overall', newConfidence: amount },
          });
        }
        const made = figures.in('EUR');
        expect(JSON.parse(JSON.stringify(made))).toEqual(made);
      }),
    );
  });
});
