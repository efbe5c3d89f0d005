/**
 * Amounts by currency, added exactly: as whole numbers of the smallest part that is kept. Receipts are added as they are,
 * so there is no number that it cannot take: one that is none counts as 0.
 */
export class Sums {
  readonly #units = new Map<string, bigint>();

  /** @param digits how many places behind the point amounts have: 4 of money, 6 of what models cost, 0 of tokens */
  constructor(private readonly digits: number) {}

  add(amount: number, currency: string): void {
    this.#units.set(currency, (this.#units.get(currency) ?? 0n) + unitsOf(amount, this.digits));
  }

  /** The nearest number; the largest there is where the sum is larger still. */
  in(currency: string): number {
    const sum = Number(`${this.#units.get(currency) ?? 0n}e-${this.digits}`);
    return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, sum));
  }

  /** Each with its sum, by name, without `except`. */
  byCurrency(except?: string): Record<string, number> {
    const currencies = [...this.#units.keys()].filter((currency) => currency !== except).toSorted();
    return Object.fromEntries(currencies.map((currency) => [currency, this.in(currency)]));
  }
}

function unitsOf(amount: number, digits: number): bigint {
  if (!Number.isFinite(amount)) return 0n;
  // From here on every number is a whole one, and `toFixed` soon writes it with an exponent.
  if (Math.abs(amount) >= Number.MAX_SAFE_INTEGER) return BigInt(amount) * 10n ** BigInt(digits);
  return BigInt(amount.toFixed(digits).replace('.', ''));
}
