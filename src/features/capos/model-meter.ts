import type { Cost } from '../terms/terms.js';
import { costOf, type ModelPrices } from './model-cost.js';

/** What a provider says that one call used; a server of one's own may say nothing. */
export interface Usage {
  inputTokens: number | undefined;
  outputTokens: number | undefined;
}

/** Tokens of all calls of one run. */
export class Meter {
  private tokensIn = 0;
  private tokensOut = 0;

  constructor(private readonly prices: ModelPrices | undefined) {}

  /** The same as the budget counts. */
  add({ tokensIn, tokensOut }: Cost): void {
    this.tokensIn += tokensIn;
    this.tokensOut += tokensOut;
  }

  get cost(): Cost {
    return priced(this.tokensIn, this.tokensOut, this.prices);
  }
}

/** What so many tokens cost; 0 where no prices are known. */
export function priced(tokensIn: number, tokensOut: number, prices: ModelPrices | undefined): Cost {
  return { amount: prices ? costOf(tokensIn, tokensOut, prices) : 0, currency: 'USD', tokensIn, tokensOut };
}

/** A text of so many characters is taken for so many tokens; more of them where letters are rare, as in Japanese. */
export function estimatedTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 3);
}
