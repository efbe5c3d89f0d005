/** Amounts by currency, added exactly: as whole numbers of the smallest part that is kept. */
export class Sums {
  readonly #units = new Map<string, bigint>();

  /** @param digits how many places behind the point amounts have: 4 of money, 6 of what models cost */
  constructor(private readonly digits: number) {}

  add(amount: number, currency: string): void {
    const units = BigInt(amount.toFixed(this.digits).replace('.', ''));
    this.#units.set(currency, (this.#units.get(currency) ?? 0n) + units);
  }

  in(currency: string): number {
    return Number(`${this.#units.get(currency) ?? 0n}e-${this.digits}`);
  }

  /** Each with its sum, by name, without `except`. */
  byCurrency(except?: string): Record<string, number> {
    const currencies = [...this.#units.keys()].filter((currency) => currency !== except).toSorted();
    return Object.fromEntries(currencies.map((currency) => [currency, this.in(currency)]));
  }
}
