import type { LanguageModel } from 'ai';
import { traced } from '../../platform/kernel/request-context.js';

/** A count that is none, by which it is known that the provider said something: it is replaced with an estimate. */
const NO_COUNT = -1;

/**
 * What is asked with `fetch`, whose answers say nothing of tokens but numbers. A provider's package refuses a whole answer
 * for a count that is no number, and the answer has been paid for.
 */
const fetchWithCounts: typeof fetch = (input, init) =>
  traced('model', {}, async (traceparent) => {
    const headers = new Headers(init?.headers);
    if (traceparent !== undefined) headers.set('traceparent', traceparent);
    const response = await fetch(input, { ...init, headers });
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    return response.ok && isJson ? withCounts(response) : response;
  });

async function withCounts(response: Response): Promise<Response> {
  const { status, statusText, headers } = response;
  let body: string | ReadableStream;
  try {
    body = repaired(await response.text());
  } catch (error) {
    // The reader of the body gets the same error.
    body = new ReadableStream({ start: (controller) => controller.error(error) });
  }
  return new Response(body, { status, statusText, headers });
}

function repaired(text: string): string {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return text;
  }
  if (typeof answer !== 'object' || answer === null || !('usage' in answer)) return text;
  const { usage } = answer;
  if (usage === null || isCounted(usage)) return text;
  return JSON.stringify({ ...answer, usage: counts(usage) });
}

function isCounted(usage: unknown): boolean {
  return (
    typeof usage === 'object' &&
    usage !== null &&
    Object.values(usage).every((value) => value === null || typeof value !== 'object' || isCounted(value)) &&
    Object.entries(usage).every(([name, value]) => !name.endsWith('_tokens') || isCount(value))
  );
}

/** What JSON writes as 1e400 is not finite. */
function isCount(value: unknown): boolean {
  return value === null || (typeof value === 'number' && Number.isFinite(value));
}

/** The two that count, in the words of each interface. */
const COUNTED = ['prompt_tokens', 'completion_tokens', 'input_tokens', 'output_tokens'];

function counts(usage: unknown): Record<string, number> {
  const given = typeof usage === 'object' && usage !== null ? (usage as Record<string, unknown>) : {};
  return Object.fromEntries(
    COUNTED.map((name) => [
      name,
      typeof given[name] === 'number' && isCount(given[name]) ? given[name] : NO_COUNT,
    ]),
  );
}

export interface ModelOptions {
  provider: 'openai' | 'anthropic' | 'openai-compatible';
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
  /** In the words of the provider. */
  model: string;
}

/** Where the provider is asked. */
export function baseUrlOf({ provider, baseUrl }: Pick<ModelOptions, 'provider' | 'baseUrl'>): string {
  if (baseUrl !== undefined) return baseUrl;
  return {
    openai: 'https://api.openai.com/v1',
    anthropic: 'https://api.anthropic.com/v1',
    'openai-compatible': '',
  }[provider];
}

/** A model given as a plain string would go to a hosted gateway; only an object stays with its provider. */
export type ModelObject = Exclude<LanguageModel, string>;

/**
 * The provider's package is imported by those who use it. Key and address are passed even when unset, because the
 * packages would otherwise look for them in the environment, which only the configuration reads.
 */
export async function modelObject({
  provider,
  baseUrl,
  apiKey = '',
  model,
}: ModelOptions): Promise<ModelObject> {
  switch (provider) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      return createOpenAI({
        apiKey,
        baseURL: baseUrlOf({ provider, baseUrl }),
        fetch: fetchWithCounts,
      })(model);
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({
        apiKey,
        baseURL: baseUrlOf({ provider, baseUrl }),
        fetch: fetchWithCounts,
      })(model);
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const key = apiKey === '' ? {} : { apiKey };
      return createOpenAICompatible({
        name: 'model',
        baseURL: baseUrlOf({ provider, baseUrl }),
        supportsStructuredOutputs: true,
        fetch: fetchWithCounts,
        ...key,
      })(model);
    }
  }
}
