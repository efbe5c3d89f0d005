import type { ModelMessage } from 'ai';
import { cutText } from '../../platform/kernel/text.js';
import type { Cost } from '../terms/terms.js';
import type { Fault } from './action-types.js';
import { RunnerFailed, type Briefing, type CapoRunner, type Draft } from './briefing.js';
import { engineOf, type Engine } from './capo.js';
import { costOf, type ModelPrices } from './model-cost.js';
import { failureOf, refusesSchema } from './model-failure.js';
import { answerSchema, readAnswer, type Reading } from './model-output.js';
import { dataFor, instructionsFor } from './model-prompt.js';
import { modelObject, type ModelObject, type ModelOptions } from './model-provider.js';

export interface ModelRunnerOptions extends ModelOptions {
  /** Of the model; without prices a run costs 0 in the ledger. */
  prices?: ModelPrices | undefined;
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
  /** Until the server refuses a schema for the first time. */
  let structured = true;

  return {
    perWorkspace: 4,
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
        const withSchema = structured;
        const draft = await drafted(call, briefing, meter, withSchema).catch((error: unknown) => {
          if (!withSchema || !refusesSchema(error)) throw error;
          structured = false;
          return drafted(call, briefing, meter, false);
        });
        return { ...draft, engine: { name: options.provider, model: options.model }, cost: meter.cost };
      } catch (error) {
        throw failureOf(error, signal, deadline, meter.cost);
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
  /** Undefined when the text holds no JSON object. */
  value: unknown;
  text: string;
  finishReason: string | undefined;
}

const MAX_FAULTS = 20;
/** Enough for the longest mail and its reasoning; what is cut off is invalid and repaired or refused. */
const MAX_OUTPUT_TOKENS = 16_000;

async function drafted(call: Call, briefing: Briefing, meter: Meter, structured: boolean) {
  const engine = engineOf(briefing.directive.capo);
  const messages: ModelMessage[] = [{ role: 'user', content: dataFor(briefing) }];
  const first = await ask(call, briefing, messages, meter, structured);
  const reading = reads(engine, first);
  if (reading.ok) return reading.draft;

  messages.push({ role: 'assistant', content: cutText(first.text, 50_000) || '{}' });
  messages.push({
    role: 'user',
    content: `Your answer was refused:\n${spoken(reading.faults)}\nAnswer again, whole.`,
  });
  const second = reads(engine, await ask(call, briefing, messages, meter, structured));
  if (second.ok) return second.draft;
  throw new RunnerFailed(
    'invalid_output',
    `The model's answer was refused twice:\n${spoken(second.faults)}`,
    false,
    meter.cost,
  );
}

function reads(engine: Engine, { value, finishReason }: Answer): Reading {
  if (value !== undefined) return readAnswer(engine, value);
  const message = finishReason === 'length' ? 'was cut off: be shorter' : 'is not one JSON object';
  return { ok: false, faults: [{ path: '', rule: 'json', message }] };
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
    const { text, finishReason } = result;
    // Without text there is no output, and asking for it would throw.
    return { value: text === '' ? undefined : result.output, text, finishReason };
  } catch (error) {
    if (!NoObjectGeneratedError.isInstance(error)) throw error;
    meter.add(error.usage);
    refuseFiltered(error.finishReason, meter);
    const { text = '', finishReason } = error;
    return { value: jsonIn(text), text, finishReason };
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
    const { tokensIn, tokensOut } = this;
    const { prices } = this.options;
    return {
      amount: prices ? costOf(tokensIn, tokensOut, prices) : 0,
      currency: 'USD',
      tokensIn,
      tokensOut,
    };
  }
}
