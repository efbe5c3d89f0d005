import type { LanguageModel } from 'ai';
import { fetchWithCounts } from './model-usage.js';

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
