import { type Cost, COST_CURRENCY, NO_COST } from '../terms/terms.js';
import { costOf, type ModelPrices } from './model-cost.js';

/** What a provider says that one call used; a server of one's own may say nothing. */
export interface Usage {
  inputTokens: number | undefined;
  outputTokens: number | undefined;
}

/** Tokens of all calls of one run. */
export class Meter {
  #cost: Cost = NO_COST;

  /** The same as the budget counts: each call rounded by itself. */
  add({ amount, tokensIn, tokensOut }: Cost): void {
    this.#cost = {
      amount: Number((this.#cost.amount + amount).toFixed(6)),
      currency: this.#cost.currency,
      tokensIn: this.#cost.tokensIn + tokensIn,
      tokensOut: this.#cost.tokensOut + tokensOut,
    };
  }

  get cost(): Cost {
    return this.#cost;
  }
}

/** What so many tokens cost; 0 where no prices are known. */
export function priced(tokensIn: number, tokensOut: number, prices: ModelPrices | undefined): Cost {
  const amount = prices ? costOf(tokensIn, tokensOut, prices) : 0;
  return { amount, currency: COST_CURRENCY, tokensIn, tokensOut };
}

/** A text of so many characters is taken for so many tokens; more of them where letters are rare, as in Japanese. */
export function estimatedTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 3);
}
