import { cutText } from '../../platform/kernel/text.js';
import { excerptOf } from '../../platform/outbound/excerpt.js';
import { parseRetryAfter } from '../../platform/outbound/retry-after.js';
import type { Cost } from '../terms/index.js';
import { RunnerFailed, type RunnerFailure } from './briefing.js';

/** What a provider's error says about itself; read structurally, so that no class of a lazily loaded package is needed. */
interface ProviderError {
  /** Whether it comes from the SDK at all; anything else is a defect of ours. */
  known: boolean;
  statusCode?: number | undefined;
  isRetryable?: boolean | undefined;
  responseBody?: string | undefined;
  responseHeaders?: Record<string, string> | undefined;
}

/** The run that failed. */
export interface FailedRun {
  /** Aborted when the caller stops the run. */
  stopped: AbortSignal;
  deadline: AbortSignal;
  timeoutMs: number;
  cost: Cost;
  /** Never shown, also when a provider quotes it. */
  apiKey: string | undefined;
  /** Unix milliseconds, for a provider that says until when to wait. */
  now: number;
}

const MAX_REASON = 300;
const MIN_WAIT_MS = 1_000;
/** A provider that asks for more is asked again all the same: its limit may have been raised. */
const MAX_WAIT_MS = 3_600_000;

function providerError(error: unknown): ProviderError {
  if (!(error instanceof Error)) return { known: false };
  const { statusCode, isRetryable, responseBody, responseHeaders } = error as Error & Partial<ProviderError>;
  return { known: error.name.startsWith('AI_'), statusCode, isRetryable, responseBody, responseHeaders };
}

/** Some compatible servers know JSON but no schemas, or neither, and say so with a 400. */
export function refusesFormat(error: unknown): boolean {
  const { statusCode = 0, responseBody = '' } = providerError(error);
  return (
    (statusCode === 400 || statusCode === 422) &&
    /response_format|json_schema|json_object|structured|output_config|output_format/i.test(responseBody)
  );
}

/** What was answered with a success, but in no form that anybody can read. */
export function unreadBodyIn(error: unknown): string | undefined {
  const { statusCode = 0, responseBody } = providerError(error);
  return statusCode >= 200 && statusCode < 300 ? responseBody : undefined;
}

/** The failure as the operator may read it, with the provider's own reason. A defect of ours stays what it is. */
export function failureOf(error: unknown, run: FailedRun): unknown {
  const { stopped, deadline, timeoutMs, cost } = run;
  if (stopped.aborted) return new RunnerFailed('aborted', 'The run was stopped.', false, cost);
  if (error instanceof RunnerFailed) {
    return new RunnerFailed(error.code, error.message, error.retryable, cost, error.waitMs);
  }
  if (deadline.aborted) {
    const message = `The model did not answer within ${timeoutMs / 1_000} seconds.`;
    return new RunnerFailed('timeout', message, true, cost);
  }
  const { known, statusCode, isRetryable = false, responseBody, responseHeaders } = providerError(error);
  if (!known) return error;
  if (statusCode === undefined) {
    return new RunnerFailed(
      'provider_unavailable',
      'The model provider could not be reached.',
      isRetryable,
      cost,
    );
  }
  const reason = reasonIn(responseBody, run.apiKey);
  const message = `The model provider answered with status ${statusCode}${reason === '' ? '.' : `: “${reason}”`}`;
  const { code, retryable } = verdictOn(statusCode);
  return new RunnerFailed(
    code,
    message,
    retryable,
    cost,
    retryable ? waitOf(responseHeaders, run.now) : undefined,
  );
}

function verdictOn(status: number): { code: RunnerFailure; retryable: boolean } {
  if (status === 429) return { code: 'rate_limited', retryable: true };
  if (status === 401 || status === 403) return { code: 'unauthorized', retryable: false };
  // A success with a body that is no answer comes from something in between, and may pass.
  const mayPass = status < 300 || status >= 500 || status === 408 || status === 409 || status === 425;
  return mayPass
    ? { code: 'provider_unavailable', retryable: true }
    : { code: 'request_rejected', retryable: false };
}

/** How long the provider asks to wait, within bounds. */
function waitOf(headers: Record<string, string> | undefined, now: number): number | undefined {
  const seconds = parseRetryAfter(headers?.['retry-after'] ?? '', now);
  return seconds === undefined ? undefined : Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, seconds * 1_000));
}

/**
 * The provider's own words, in one short line. They may quote the directive, which every reader of the failure may read as
 * well; for the log, which others read, they are not meant. A page of HTML is no reason.
 */
function reasonIn(body: string | undefined, apiKey: string | undefined): string {
  const said = body === undefined ? '' : (messageIn(body) ?? (body.includes('<') ? '' : body));
  return quotable(said, apiKey);
}

/** What a provider wrote, in one line without secrets, cut between graphemes. */
export function quotable(said: string, apiKey: string | undefined, maxLength = MAX_REASON): string {
  const line = excerptOf(redacted(said, apiKey)).replace(/\s+/g, ' ').trim();
  return cutText(line, maxLength);
}

function messageIn(body: string): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return undefined;
  }
  for (let depth = 0; depth < 3; depth++) {
    if (typeof parsed === 'string') return parsed;
    if (Array.isArray(parsed)) parsed = parsed[0];
    if (typeof parsed !== 'object' || parsed === null) return undefined;
    const { message, error, detail } = parsed as Record<string, unknown>;
    parsed = error ?? message ?? detail;
  }
  return typeof parsed === 'string' ? parsed : undefined;
}

const SECRETS = [
  /\b(?:sk|pk|rk|key|gsk|xai|hf|cons)[-_][\w*.-]{6,}/gi,
  /\b(?:bearer|basic)\s+[\w+/=.~-]{8,}/gi,
  /(?<=:\/\/)[^\s/@]+@/g,
];

/** The key itself, and whatever looks like one: providers quote keys back, sometimes masked. */
function redacted(text: string, apiKey: string | undefined): string {
  const withoutKey = apiKey ? text.replaceAll(apiKey, '[redacted]') : text;
  return SECRETS.reduce((line, secret) => line.replace(secret, '[redacted]'), withoutKey);
}
