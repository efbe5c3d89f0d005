import { Injectable } from '@nestjs/common';
import { Metrics } from '../../platform/observability/metrics.js';
import type { Cost } from '../terms/index.js';
import { RunnerFailed, type RunnerFailure } from './briefing.js';

type Outcome = 'answered' | RunnerFailure | 'error';

const OUTCOMES: Record<Outcome, true> = {
  answered: true,
  provider_unavailable: true,
  rate_limited: true,
  unauthorized: true,
  request_rejected: true,
  model_budget_exceeded: true,
  invalid_output: true,
  refused: true,
  timeout: true,
  out_of_memory: true,
  crashed: true,
  aborted: true,
  error: true,
};

/** Counts what came of each question to the model and what it cost, for Prometheus. */
@Injectable()
export class ModelCalls {
  readonly #count: (outcome: Outcome) => void;
  readonly #dollars: (amount: number) => void;
  readonly #tokens: (amount: number) => void;

  constructor(metrics: Metrics) {
    this.#count = metrics.outcomes(
      'consigliere_model_calls_total',
      'Questions that this process asked the model, by what came of them',
      Object.keys(OUTCOMES) as Outcome[],
    );
    this.#dollars = metrics.sum(
      'consigliere_model_cost_usd_total',
      'What questions of this process to the model cost, in US dollars; 0 while its prices are unknown',
    );
    this.#tokens = metrics.sum(
      'consigliere_model_tokens_total',
      'Tokens that the model read and wrote for this process',
    );
  }

  /** Failed questions cost as well. */
  paid({ amount, tokensIn, tokensOut }: Cost): void {
    this.#dollars(amount);
    this.#tokens(tokensIn + tokensOut);
  }

  answered(): void {
    this.#count('answered');
  }

  failed(failure: unknown): void {
    this.#count(failure instanceof RunnerFailed ? failure.code : 'error');
  }
}
