import { describe, expect, it } from 'vitest';
import { counted, money } from './text.js';

describe('an amount as a person reads it', () => {
  it.each([
    [1_204.5, 'EUR', '1,204.50 EUR'],
    [12_000, 'JPY', '12,000.00 JPY'],
    [0.0125, 'USD', '0.0125 USD'],
    [0.000005, 'USD', '0.000005 USD'],
    [-120, 'USD', '-120.00 USD'],
  ])('%d %s is %s', (amount, currency, shown) => {
    expect(money(amount, currency)).toBe(shown);
  });
});

describe('a number of things', () => {
  it.each([
    [0, '0 work packets'],
    [1, '1 work packet'],
    [1_200, '1,200 work packets'],
  ])('%d is %s', (n, shown) => {
    expect(counted(n, 'work packet')).toBe(shown);
  });
});
