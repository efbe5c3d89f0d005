import { Injectable } from '@nestjs/common';
import { Metrics } from '../../platform/observability/metrics.js';
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

/** Counts what came of each question to the model, for Prometheus. */
@Injectable()
export class ModelCalls {
  readonly #count: (outcome: Outcome) => void;

  constructor(metrics: Metrics) {
    this.#count = metrics.outcomes(
      'consigliere_model_calls_total',
      'Questions that this process asked the model, by what came of them',
      Object.keys(OUTCOMES) as Outcome[],
    );
  }

  answered(): void {
    this.#count('answered');
  }

  failed(failure: unknown): void {
    this.#count(failure instanceof RunnerFailed ? failure.code : 'error');
  }
}
