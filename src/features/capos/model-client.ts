import type { JSONSchema7, ModelMessage } from 'ai';
import type { Fault } from '../../platform/kernel/define-error.js';
import { cutText } from '../../platform/kernel/text.js';
import { COST_CURRENCY, type Cost, NO_COST } from '../terms/index.js';
import { RunnerFailed } from './briefing.js';
import { failedAfterPaying, type ModelBudget } from './model-budget.js';
import { failureOf, quotable, refusesFormat, unreadBodyIn } from './model-failure.js';
import { modelObject, type ModelObject, type ModelOptions } from './model-provider.js';

/** US dollars per million tokens, to a millionth of a dollar. */
export interface ModelPrices {
  readonly input: number;
  readonly output: number;
}

const MILLIONTHS = 1_000_000;

/**
 * What these tokens cost, in US dollars rounded half up to six decimals. Counted in whole numbers: in binary
 * fractions 5 tokens at 0.1 dollars are less than half a millionth.
 */
export function costOf(tokensIn: number, tokensOut: number, prices: ModelPrices): number {
  const part = (tokens: number, price: number) => BigInt(tokens) * BigInt(Math.round(price * MILLIONTHS));
  const exact = part(tokensIn, prices.input) + part(tokensOut, prices.output);
  return Number((exact + BigInt(MILLIONTHS / 2)) / BigInt(MILLIONTHS)) / MILLIONTHS;
}

/** What a provider says that one call used; a server of one's own may say nothing. */
interface Usage {
  inputTokens: number | undefined;
  outputTokens: number | undefined;
}

/** Tokens of all calls of one run. */
class Meter {
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
function priced(tokensIn: number, tokensOut: number, prices: ModelPrices | undefined): Cost {
  const amount = prices ? costOf(tokensIn, tokensOut, prices) : 0;
  return { amount, currency: COST_CURRENCY, tokensIn, tokensOut };
}

/** A text of so many characters is taken for so many tokens; more of them where letters are rare, as in Japanese. */
function estimatedTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 3);
}

/** The most that any call can have. */
const MAX_TOKENS = 10_000_000;
/** What a provider may add to a request, such as its template of a chat and how it asks for JSON. */
const ADDED_TOKENS = 4_000;

/** As many as a request can have, of which no token is shorter than a byte. */
function mostTokens(request: string): number {
  return Math.min(MAX_TOKENS, Buffer.byteLength(request) + ADDED_TOKENS);
}

/** The tokens that a provider says a call had, if it can have had them: money is counted by them, and a day's budget. */
function saidTokens(tokens: number | undefined, most: number): number | undefined {
  const isPossible = Number.isSafeInteger(tokens) && tokens! >= 0 && tokens! <= Math.min(most, MAX_TOKENS);
  return isPossible ? tokens! + 0 : undefined;
}

export interface ModelClientOptions extends ModelOptions {
  /** Of the model; without prices a run costs 0 in the ledger. */
  prices?: ModelPrices | undefined;
  /** For all that is asked to get one answer, repair included. */
  timeoutMs?: number | undefined;
  /** Of one answer. */
  maxTokens?: number | undefined;
  /** Is asked before each call, and counts how each question ended; left out, there is none. */
  budget?: ModelBudget | undefined;
  /** Is told once when the provider counts tokens that cannot be; left out, nobody is. */
  warn?: ((message: string) => void) | undefined;
  /** Unix milliseconds. */
  now?: () => number;
}

/** What is asked of a model, for a workspace that pays for it. */
export interface Question<T> {
  workspaceId: string;
  /** The rules. Where the server takes no schema, the schema is added to them. */
  instructions: string;
  data: string;
  name: string;
  schema: JSONSchema7;
  /** Of this answer, if it is known to be short. */
  maxTokens?: number;
  /** For this answer, if it is not worth waiting longer for. */
  timeoutMs?: number;
  /** The answer in our words, or all that is wrong with it. */
  read(value: unknown): Reading<T>;
}

export type Reading<T> = { ok: true; answer: T } | { ok: false; faults: Fault[] };

const DEFAULT_TIMEOUT_MS = 120_000;
/** Enough for the longest mail and its reasoning; what is cut off is invalid and repaired or refused. */
const DEFAULT_MAX_TOKENS = 16_000;
const MAX_FAULTS = 20;

/** How the shape of the answer is asked for, the strictest first. */
const FORMATS = ['schema', 'json', 'text'] as const;

interface Run {
  model: ModelObject;
  meter: Meter;
  abortSignal: AbortSignal;
  /** The part of abortSignal that is a time limit. */
  deadline: AbortSignal;
}

interface Answer {
  /** Undefined when the text holds no JSON object. */
  value: unknown;
  text: string;
  finishReason: string | undefined;
}

/**
 * A language model that answers with one JSON object. The caller parses the answer, has it repaired once, or refuses it.
 * A call that fails is not tried again here: the caller waits, without a connection or a slot.
 */
export class ModelClient {
  #loaded: Promise<ModelObject> | undefined;
  /** Index of the strictest format that the server has not refused. */
  #format = 0;
  #hasWarned = false;

  constructor(readonly options: ModelClientOptions) {
    if (options.provider === 'openai-compatible' && !options.baseUrl)
      throw new Error('openai-compatible needs a base URL');
  }

  /** @throws RunnerFailed; `paidBefore` says what was paid for until then */
  async ask<T>(
    question: Question<T>,
    { signal }: { signal: AbortSignal },
  ): Promise<{ answer: T; cost: Cost }> {
    const { apiKey, budget, now = Date.now } = this.options;
    const timeoutMs = Math.min(this.options.timeoutMs ?? DEFAULT_TIMEOUT_MS, question.timeoutMs ?? Infinity);
    const deadline = AbortSignal.timeout(timeoutMs);
    const meter = new Meter();
    try {
      this.#loaded ??= modelObject(this.options);
      const model = await this.#loaded;
      const run: Run = { model, meter, abortSignal: AbortSignal.any([signal, deadline]), deadline };
      const answer = await this.answered(run, question);
      budget?.answered();
      return { answer, cost: meter.cost };
    } catch (error) {
      const { cost } = meter;
      const failure = failureOf(error, { stopped: signal, deadline, timeoutMs, cost, apiKey, now: now() });
      budget?.failed(failure);
      const { provider: name, model } = this.options;
      throw failedAfterPaying(failure, { engine: { name, model }, cost });
    } finally {
      budget?.paid(meter.cost);
    }
  }

  private async answered<T>(run: Run, question: Question<T>): Promise<T> {
    const messages: ModelMessage[] = [{ role: 'user', content: question.data }];
    const first = await this.inSomeFormat(run, question, messages);
    const reading = read(question, first);
    if (reading.ok) return reading.answer;

    messages.push({ role: 'assistant', content: cutText(first.text, 50_000) || '{}' });
    messages.push({
      role: 'user',
      content: `Your answer was refused:\n${spoken(reading.faults)}\nAnswer again, whole.`,
    });
    const second = read(question, await this.inSomeFormat(run, question, messages));
    if (second.ok) return second.answer;
    const message = `The model's answer was refused twice:\n${spoken(second.faults)}`;
    throw new RunnerFailed('invalid_output', message, false);
  }

  /** Asks in the strictest format that the server takes; what it has refused is not asked for again. */
  private async inSomeFormat<T>(run: Run, question: Question<T>, messages: ModelMessage[]): Promise<Answer> {
    for (;;) {
      const format = this.#format;
      try {
        return await this.call(run, question, messages, FORMATS[format]!);
      } catch (error) {
        if (format === FORMATS.length - 1 || !refusesFormat(error)) throw error;
        // Two calls at once may be refused the same format.
        this.#format = Math.max(this.#format, format + 1);
      }
    }
  }

  private async call<T>(
    { model, meter, abortSignal, deadline }: Run,
    question: Question<T>,
    messages: ModelMessage[],
    format: (typeof FORMATS)[number],
  ): Promise<Answer> {
    abortSignal.throwIfAborted();
    const { generateText, jsonSchema, NoObjectGeneratedError, Output } = await import('ai');
    const { name, schema, workspaceId } = question;
    const instructions =
      format === 'schema'
        ? question.instructions
        : `${question.instructions}\n\nThe JSON Schema of your answer:\n${JSON.stringify(schema)}`;
    const { maxTokens = DEFAULT_MAX_TOKENS, budget } = this.options;
    const maxOutputTokens = Math.min(maxTokens, question.maxTokens ?? maxTokens);
    const request = instructions + JSON.stringify([messages, schema]);
    const sent = estimatedTokens(request);
    const most = this.priced(sent, maxOutputTokens);
    const reserved = await budget?.reserve(workspaceId, most);
    // A call that was refused has cost nothing.
    let used = this.priced(0, 0);
    const count = (usage: Usage | undefined, text: string) => {
      used = this.priced(
        this.said(usage?.inputTokens, mostTokens(request)) ?? sent,
        this.said(usage?.outputTokens, maxOutputTokens) ?? estimatedTokens(text),
      );
    };
    try {
      const result = await generateText({
        model,
        maxRetries: 0,
        abortSignal,
        maxOutputTokens,
        instructions,
        messages,
        ...(format === 'schema' && { output: Output.object({ schema: jsonSchema(schema), name }) }),
        ...(format === 'json' && { output: Output.json() }),
      });
      const { text, finishReason, usage } = result;
      count(usage, text);
      this.refuseFiltered(finishReason, text);
      // The output of a text that is no JSON would throw when it is asked for.
      return { value: jsonIn(text), text, finishReason };
    } catch (error) {
      if (NoObjectGeneratedError.isInstance(error)) {
        const { text = '', finishReason, usage } = error;
        count(usage, text);
        this.refuseFiltered(finishReason, text);
        return { value: jsonIn(text), text, finishReason };
      }
      // What was not answered in time was being written all that time; what was stopped has been read, as far as anyone
      // can tell.
      if (abortSignal.aborted) used = deadline.aborted ? most : this.priced(sent, 0);
      else {
        // A success that cannot be read has been written all the same.
        const body = unreadBodyIn(error);
        if (body !== undefined) used = this.priced(sent, Math.min(maxOutputTokens, estimatedTokens(body)));
      }
      throw error;
    } finally {
      meter.add(used);
      await reserved?.settle(used);
    }
  }

  private priced(tokensIn: number, tokensOut: number): Cost {
    return priced(tokensIn, tokensOut, this.options.prices);
  }

  /** What the provider counted, if it can be; undefined where it has to be estimated. */
  private said(tokens: number | undefined, most: number): number | undefined {
    const counted = saidTokens(tokens, most);
    if (tokens === undefined || counted !== undefined || this.#hasWarned) return counted;
    this.#hasWarned = true;
    this.options.warn?.(
      `The model provider counted ${String(tokens)} tokens for a call that can have 0 to ${most}; such counts are replaced with an estimate.`,
    );
    return undefined;
  }

  private refuseFiltered(finishReason: string | undefined, text: string): void {
    if (finishReason !== 'content-filter') return;
    // Some servers write "null" as the answer, and the refusal behind it.
    const reason = quotable(text.replace(/^\s*null(?![a-z])/, ''), this.options.apiKey);
    const said = reason === '' ? '.' : `: “${reason}”`;
    throw new RunnerFailed('refused', `The model declined to work on this directive${said}`, false);
  }
}

function read<T>(question: Question<T>, { value, finishReason }: Answer): Reading<T> {
  if (value !== undefined) return question.read(value);
  const message = finishReason === 'length' ? 'was cut off: be shorter' : 'is not one JSON object';
  return { ok: false, faults: [{ path: '', rule: 'json', message }] };
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
