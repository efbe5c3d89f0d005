import { COST_CURRENCY, type Cost, NO_COST } from '../terms/index.js';
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

/** The most that any call can have. */
const MAX_TOKENS = 10_000_000;
/** What a provider may add to a request, such as its template of a chat and how it asks for JSON. */
const ADDED_TOKENS = 4_000;

/** As many as a request can have, of which no token is shorter than a byte. */
export function mostTokens(request: string): number {
  return Math.min(MAX_TOKENS, Buffer.byteLength(request) + ADDED_TOKENS);
}

/** The tokens that a provider says a call had, if it can have had them: money is counted by them, and a day's budget. */
export function saidTokens(tokens: number | undefined, most: number): number | undefined {
  const isPossible = Number.isSafeInteger(tokens) && tokens! >= 0 && tokens! <= Math.min(most, MAX_TOKENS);
  return isPossible ? tokens! + 0 : undefined;
}
