import type { Cost } from '../terms/terms.js';
import { RunnerFailed } from './briefing.js';

/** What a provider's error says about itself; read structurally, so that no class of a lazily loaded package is needed. */
interface ProviderError {
  /** Whether it comes from the SDK at all; anything else is a defect of ours. */
  known: boolean;
  statusCode?: number | undefined;
  isRetryable?: boolean | undefined;
  responseBody?: string | undefined;
}

function providerError(error: unknown): ProviderError {
  if (!(error instanceof Error)) return { known: false };
  const { lastError, statusCode, isRetryable, responseBody } = error as Error &
    Partial<ProviderError> & { lastError?: unknown };
  // After its retries the SDK wraps the last error.
  if (lastError !== undefined) return providerError(lastError);
  return { known: error.name.startsWith('AI_'), statusCode, isRetryable, responseBody };
}

/** Some compatible servers know JSON but no schemas, and say so with a 400. */
export function refusesSchema(error: unknown): boolean {
  const { statusCode = 0, responseBody = '' } = providerError(error);
  return (
    (statusCode === 400 || statusCode === 422) && /response_format|json_schema|structured/i.test(responseBody)
  );
}

/**
 * The failure as the operator may read it. The provider's own words are left out: they may quote the key, and they
 * may quote the directive.
 */
export function failureOf(error: unknown, stopped: AbortSignal, deadline: AbortSignal, cost: Cost): unknown {
  if (stopped.aborted) return new RunnerFailed('aborted', 'The run was stopped.', false, cost);
  if (error instanceof RunnerFailed) return error;
  if (deadline.aborted)
    return new RunnerFailed('provider_unavailable', 'The model did not answer in time.', true, cost);
  const { known, statusCode, isRetryable = false } = providerError(error);
  if (!known) return error;
  const said = statusCode === undefined ? 'could not be reached' : `answered with status ${statusCode}`;
  // A success with a body that is no answer comes from something in between, and may pass.
  const garbled = statusCode !== undefined && statusCode < 300;
  return new RunnerFailed(
    'provider_unavailable',
    `The model provider ${said}.`,
    isRetryable || garbled,
    cost,
  );
}
