/** US dollars per million tokens, to a millionth of a dollar. */
export interface ModelPrices {
  readonly input: number;
  readonly output: number;
}

const MILLIONTHS = 1_000_000;

/**
 * What these tokens cost, in US dollars rounded half up to six decimals. Counted in whole numbers: in binary
 * fractions 5 tokens at 0.1 dollars are less than half a millionth.
 */
export function costOf(tokensIn: number, tokensOut: number, prices: ModelPrices): number {
  const part = (tokens: number, price: number) => BigInt(tokens) * BigInt(Math.round(price * MILLIONTHS));
  const exact = part(tokensIn, prices.input) + part(tokensOut, prices.output);
  return Number((exact + BigInt(MILLIONTHS / 2)) / BigInt(MILLIONTHS)) / MILLIONTHS;
}
