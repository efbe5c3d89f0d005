import type { ModelMessage } from 'ai';
import type { Cost } from '../terms/terms.js';
import type { Fault } from './action-types.js';
import { RunnerFailed, type Briefing, type CapoRunner, type Draft } from './briefing.js';
import { engineOf } from './capo.js';
import { answerSchema, readAnswer } from './model-output.js';
import { dataFor, instructionsFor } from './model-prompt.js';
import { modelObject, type ModelObject, type ModelOptions } from './model-provider.js';

export interface ModelRunnerOptions extends ModelOptions {
  /** US dollars per million tokens, by model name; a model without a price costs 0 in the ledger. */
  prices?: Readonly<Record<string, { input: number; output: number }>>;
  /** For the whole run, repair included. */
  timeoutMs?: number;
  /** Of one call, after an answer that the provider says may pass. */
  maxRetries?: number;
}

/** A capo that drafts with a language model. Its answer is checked against the registry, repaired once, or refused. */
export function createModelRunner(options: ModelRunnerOptions): CapoRunner {
  if (options.provider === 'openai-compatible' && !options.baseUrl)
    throw new Error('openai-compatible needs a base URL');
  let loaded: Promise<ModelObject> | undefined;
  /** Some compatible servers know JSON but no schemas; the first refusal is remembered. */
  let structured = true;

  return {
    async run(briefing, { signal }): Promise<Draft> {
      const deadline = AbortSignal.timeout(options.timeoutMs ?? 120_000);
      const meter = new Meter(options);
      try {
        loaded ??= modelObject(options);
        const call: Call = {
          model: await loaded,
          maxRetries: options.maxRetries ?? 1,
          abortSignal: AbortSignal.any([signal, deadline]),
        };
        const converse = () => drafted(call, briefing, meter, structured);
        const draft = await converse().catch((error: unknown) => {
          if (!structured || !refusesSchema(error)) throw error;
          structured = false;
          return converse();
        });
        return { ...draft, engine: { name: options.provider, model: options.model }, cost: meter.cost };
      } catch (error) {
        throw failureOf(error, signal, deadline, meter);
      }
    },
  };
}

interface Call {
  model: ModelObject;
  maxRetries: number;
  abortSignal: AbortSignal;
}

interface Answer {
  value: unknown;
  text: string;
}

const MAX_FAULTS = 20;
/** Enough for the longest mail and its reasoning; what is cut off is invalid and repaired or refused. */
const MAX_OUTPUT_TOKENS = 16_000;

async function drafted(call: Call, briefing: Briefing, meter: Meter, structured: boolean) {
  const engine = engineOf(briefing.directive.capo);
  const messages: ModelMessage[] = [{ role: 'user', content: dataFor(briefing) }];
  const first = await ask(call, briefing, messages, meter, structured);
  const reading = readAnswer(engine, first.value);
  if (reading.ok) return reading.draft;

  messages.push({ role: 'assistant', content: first.text.slice(0, 50_000) || '{}' });
  messages.push({
    role: 'user',
    content: `Your answer was refused:\n${spoken(reading.faults)}\nAnswer again, whole.`,
  });
  const second = readAnswer(engine, (await ask(call, briefing, messages, meter, structured)).value);
  if (second.ok) return second.draft;
  throw new RunnerFailed(
    'invalid_output',
    `The model's answer was refused twice:\n${spoken(second.faults)}`,
    false,
    meter.cost,
  );
}

async function ask(
  call: Call,
  briefing: Briefing,
  messages: ModelMessage[],
  meter: Meter,
  structured: boolean,
): Promise<Answer> {
  const { generateText, jsonSchema, NoObjectGeneratedError, Output } = await import('ai');
  const schema = jsonSchema(answerSchema(engineOf(briefing.directive.capo)));
  try {
    const result = await generateText({
      ...call,
      maxOutputTokens: MAX_OUTPUT_TOKENS,
      instructions: instructionsFor(briefing),
      messages,
      output: structured ? Output.object({ schema, name: 'draft' }) : Output.json(),
    });
    meter.add(result.usage);
    refuseFiltered(result.finishReason, meter);
    // Without text there is no output, and asking for it would throw.
    return { value: result.text === '' ? undefined : result.output, text: result.text };
  } catch (error) {
    if (!NoObjectGeneratedError.isInstance(error)) throw error;
    meter.add(error.usage);
    refuseFiltered(error.finishReason, meter);
    return { value: jsonIn(error.text ?? ''), text: error.text ?? '' };
  }
}

function refuseFiltered(finishReason: string | undefined, meter: Meter): void {
  if (finishReason !== 'content-filter') return;
  throw new RunnerFailed('refused', 'The model declined to work on this directive.', false, meter.cost);
}

/** Models without structured output like to wrap JSON in a fence or a sentence. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  } catch {
    return undefined;
  }
}

function spoken(faults: readonly Fault[]): string {
  return faults
    .slice(0, MAX_FAULTS)
    .map(({ path, message }) => `- ${path === '' ? 'the answer' : path}: ${message}`)
    .join('\n');
}

/** What a provider's error says about itself; read structurally, so that no class of a lazily loaded package is needed. */
interface ProviderError {
  statusCode?: number;
  isRetryable?: boolean;
  responseBody?: string;
  lastError?: unknown;
}

function asProviderError(error: unknown): ProviderError & { known: boolean } {
  if (typeof error !== 'object' || error === null) return { known: false };
  const { lastError } = error as ProviderError;
  // After retries the SDK wraps the last error.
  if (lastError !== undefined) return asProviderError(lastError);
  return { ...pick(error as ProviderError), known: String((error as Error).name).startsWith('AI_') };
}

function pick({ statusCode, isRetryable, responseBody }: ProviderError): ProviderError {
  return { statusCode, isRetryable, responseBody };
}

function refusesSchema(error: unknown): boolean {
  const { statusCode = 0, responseBody = '' } = asProviderError(error);
  return (
    (statusCode === 400 || statusCode === 422) && /response_format|json_schema|structured/i.test(responseBody)
  );
}

/** The provider's own words are left out: they may quote the key, and they may quote the directive. */
function failureOf(error: unknown, signal: AbortSignal, deadline: AbortSignal, meter: Meter): unknown {
  if (signal.aborted) return new RunnerFailed('aborted', 'The run was stopped.', false, meter.cost);
  if (error instanceof RunnerFailed) return error;
  if (deadline.aborted) {
    return new RunnerFailed('provider_unavailable', 'The model did not answer in time.', true, meter.cost);
  }
  const { known, statusCode, isRetryable = false } = asProviderError(error);
  if (!known) return error;
  const said = statusCode === undefined ? 'could not be reached' : `answered with status ${statusCode}`;
  const garbled = statusCode !== undefined && statusCode < 300;
  return new RunnerFailed(
    'provider_unavailable',
    `The model provider ${said}.`,
    isRetryable || garbled,
    meter.cost,
  );
}

/** Tokens of all calls of one run. */
class Meter {
  private tokensIn = 0;
  private tokensOut = 0;

  constructor(private readonly options: ModelRunnerOptions) {}

  add(usage: { inputTokens: number | undefined; outputTokens: number | undefined } | undefined): void {
    this.tokensIn += usage?.inputTokens ?? 0;
    this.tokensOut += usage?.outputTokens ?? 0;
  }

  get cost(): Cost {
    const { prices = {}, model } = this.options;
    const price = Object.hasOwn(prices, model) ? prices[model] : undefined;
    const amount =
      price === undefined ? 0 : (this.tokensIn * price.input + this.tokensOut * price.output) / 1_000_000;
    return {
      amount: Number(amount.toFixed(6)),
      currency: 'USD',
      tokensIn: this.tokensIn,
      tokensOut: this.tokensOut,
    };
  }
}
