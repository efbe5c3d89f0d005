import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ActionRequestView,
  ConflictError,
  type Consigliere,
  OutcomeUnknown,
  type Permitted,
} from '@consigliere/sdk';
import { isObject, type Message, UNREADABLE } from './proxy-server.js';
import { canonical, sha256 } from './proxy-tools.js';

type Json = Record<string, unknown>;
/** What a request is answered: one of both. */
export type Answer = Pick<Message, 'result' | 'error'>;

/** What comes back with a retry of a call for which the server wanted input. */
interface Input {
  inputResponses?: unknown;
  requestState?: unknown;
}

/** One call that the client wants the server to carry out. */
export interface WantedCall {
  /** As Consigliere names it. */
  tool: string;
  params: Json;
  input: Input;
  /**
   * Sends it to the server, with the parameters that were decided.
   * @throws NotSent, OutcomeUnknown
   */
  send: (params: Json, input: Input, signal: AbortSignal) => Promise<Message>;
  /** An answer in words, for what has not been done. */
  inWords: (text: string) => Answer;
  /** Whether the client knows MCP tasks: what waits is then answered by one, which the client asks for later. */
  asTask: boolean;
}

/** It did not reach the server, so nothing was done. */
export class NotSent extends Error {}
/** The server says that it failed, in this answer. */
class Failed extends Error {
  constructor(readonly answer: Answer) {
    super(wordsOf(answer));
  }
}
/** The client repeats a call in a way in which it cannot be continued. */
export class CannotContinue extends Error {}

/** What a request of the client is told. What is final ends the call: the same one after it asks anew. */
interface Told {
  answer: Answer;
  isFinal: boolean;
}

/** A call from when it is asked for until the client has heard of its end, over as many requests of the client as that takes. */
interface OpenCall {
  key: string;
  externalId: string;
  fingerprint: Promise<string>;
  /** Aborted when the request of the client that the call answers to was cancelled; undefined between requests. */
  signal: AbortSignal | undefined;
  request?: ActionRequestView;
  /** Whether it may have reached the server. */
  hasBegun: boolean;
  running?: Promise<void> | undefined;
  heard: Deferred<Told>;
  hasEnded: boolean;
  task?: Task;
  /** The server waits for input that the client has to bring. */
  round?: { token: string; answer: Answer; resume: (input: Input) => void; abandon: () => void } | undefined;
}

/** A call that the client has as an MCP task: it goes on without a request of the client, for as long as the proxy runs. */
interface Task {
  taskId: string;
  createdAt: string;
  ttlMs: number;
  statusMessage: string;
  cancelled: AbortController;
  /** What came of it. */
  answer?: Answer;
}

interface Deferred<T> {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (error: Error) => void;
}

function deferred<T>(): Deferred<T> {
  let resolve!: Deferred<T>['resolve'];
  let reject!: Deferred<T>['reject'];
  const promise = new Promise<T>((...settle) => ([resolve, reject] = settle));
  return { promise, resolve, reject };
}

/** Calls that are asked for and not ended, at most; a client that floods is told so. As many tasks are kept. */
const MAX_OPEN = 500;
const POLL_MS = 2_000;
/** What a request cannot leave any more. */
export const ENDED: ReadonlySet<ActionRequestView['status']> = new Set([
  'denied',
  'rejected',
  'expired',
  'cancelled',
  'completed',
  'failed',
]);

/**
 * Asks Consigliere for each call, and carries out what is allowed, once. The same call (tool and arguments) of a client continues one
 * that has not ended, for as long as the proxy runs: one that waits for a person, and one that was begun and of which the client has
 * not heard the end. While one of two equal calls is being answered, the other is a call of its own.
 */
export class AskedCalls {
  readonly #client: Consigliere;
  readonly #fingerprintOf: (tool: string) => Promise<string>;
  readonly #waitMs: number;
  /** Names this run of the proxy. */
  readonly #session = randomUUID();
  readonly #open = new Set<OpenCall>();
  readonly #running = new Set<Promise<void>>();
  readonly #tasks = new Map<string, OpenCall>();
  #asked = 0;

  constructor(client: Consigliere, fingerprintOf: (tool: string) => Promise<string>, waitMs: number) {
    this.#client = client;
    this.#fingerprintOf = fingerprintOf;
    this.#waitMs = waitMs;
  }

  /**
   * Answers a request of the client, and undefined where that was cancelled.
   * @throws CannotContinue
   */
  async answer(wanted: WantedCall, signal: AbortSignal): Promise<Answer | undefined> {
    const key = sha256(canonical([wanted.tool, wanted.params]));
    const call = this.#callFor(key, wanted);
    if (!call)
      return wanted.inWords(`${MAX_OPEN} calls wait already. It was not done; end some of them first.`);
    // The wait of a request that was cancelled may not be over yet.
    if (call.signal?.aborted && !call.hasBegun) await call.running;
    call.signal = signal;
    const { round } = call;
    if (round && wanted.input.requestState === undefined) {
      call.signal = undefined;
      return round.answer;
    }
    if (round) {
      call.round = undefined;
      round.resume(wanted.input);
    }
    const isAttached = call.running !== undefined && !round;
    if (!call.hasEnded) call.running ??= this.#start(call, wanted, signal);
    const told = await this.#heard(call, signal, isAttached ? this.#waitMs : undefined);
    if (call.signal === signal) call.signal = undefined;
    if (signal.aborted) return undefined;
    if (!told) return wanted.inWords(BEGUN);
    call.heard = deferred();
    if (told.isFinal) this.#open.delete(call);
    return told.answer;
  }

  /** The task, with its result once it has one; undefined where there is none. */
  taskOf(taskId: unknown): Json | undefined {
    const { task, round } = this.#tasks.get(String(taskId)) ?? {};
    if (!task) return undefined;
    const { cancelled, answer, ...shown } = task;
    const told = round
      ? { status: 'input_required', inputRequests: round.answer.result?.['inputRequests'] ?? {} }
      : answer?.error
        ? { status: 'failed', error: answer.error }
        : answer
          ? { status: 'completed', result: answer.result }
          : { status: cancelled.signal.aborted ? 'cancelled' : 'working' };
    return { ...shown, lastUpdatedAt: new Date().toISOString(), pollIntervalMs: POLL_MS, ...told };
  }

  /** Brings the input for which the server waits. */
  updateTask(taskId: unknown, inputResponses: unknown): void {
    const call = this.#tasks.get(String(taskId));
    const { round } = call ?? {};
    if (!call || !round) return;
    call.round = undefined;
    round.resume({ inputResponses });
  }

  /** Takes back what was not begun; what was begun the server is told to cancel. */
  async cancelTask(taskId: unknown): Promise<void> {
    const { task, request, hasBegun } = this.#tasks.get(String(taskId)) ?? {};
    task?.cancelled.abort();
    if (request && !hasBegun)
      await this.#client.actions.cancel(request.actionRequestId).catch(() => undefined);
  }

  /** Takes back what waits for a decision: nobody is there any more who could continue it. */
  async close(): Promise<void> {
    const waiting = [...this.#open].flatMap(({ request, hasBegun }) =>
      request && !hasBegun && !ENDED.has(request.status) ? [request.actionRequestId] : [],
    );
    for (const { round, task } of this.#open) {
      round?.abandon();
      task?.cancelled.abort();
    }
    const options = { maxRetries: 0, timeout: 2_000 };
    await Promise.allSettled(waiting.map((id) => this.#client.actions.cancel(id, options)));
  }

  /** Once all that was begun has been reported, or left without a result. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  #callFor(key: string, { tool, input }: WantedCall): OpenCall | undefined {
    const { requestState, inputResponses } = input;
    if (requestState !== undefined) {
      const call = [...this.#open].find(({ round }) => round?.token === requestState);
      if (!call) throw new CannotContinue('This requestState belongs to no call that waits for input.');
      if (call.key !== key) {
        throw new CannotContinue('A requestState continues only the same call, with the same arguments.');
      }
      return call;
    }
    if (inputResponses !== undefined) {
      throw new CannotContinue('inputResponses need the requestState of the call that asked for them.');
    }
    const former = [...this.#open].find((call) => call.key === key && (!call.signal || call.signal.aborted));
    if (former) return former;
    if (this.#open.size >= MAX_OPEN) return undefined;
    const call: OpenCall = {
      key,
      externalId: sha256(`${this.#session} ${++this.#asked} ${key}`),
      fingerprint: this.#fingerprintOf(tool),
      signal: undefined,
      hasBegun: false,
      heard: deferred(),
      hasEnded: false,
    };
    this.#open.add(call);
    return call;
  }

  async #heard(call: OpenCall, signal: AbortSignal, within?: number): Promise<Told | undefined> {
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    const cancelled = new Promise<undefined>((resolve) => {
      either.addEventListener('abort', () => resolve(undefined), { once: true });
      if (either.aborted) resolve(undefined);
    });
    const timer = within === undefined ? undefined : setTimeout(() => over.abort(), within);
    const told = await Promise.race([call.heard.promise, cancelled]);
    clearTimeout(timer);
    return told;
  }

  #start(call: OpenCall, wanted: WantedCall, signal: AbortSignal): Promise<void> {
    const running = this.#run(call, wanted, signal).finally(() => this.#running.delete(running));
    this.#running.add(running);
    return running;
  }

  async #run(call: OpenCall, wanted: WantedCall, signal: AbortSignal): Promise<void> {
    const told = await this.#carryOut(call, wanted, signal);
    call.running = undefined;
    if (told && !call.hasEnded) tell(call, told);
    if (call.task) this.#open.delete(call);
  }

  async #carryOut(call: OpenCall, wanted: WantedCall, signal: AbortSignal): Promise<Told | undefined> {
    const { inWords, tool, params } = wanted;
    const until = performance.now() + this.#waitMs;
    const final = (answer: Answer): Told => ({ answer, isFinal: true });
    const open = (text: string): Told => ({ answer: inWords(text), isFinal: false });
    try {
      const options = {
        externalId: call.externalId,
        fingerprint: await this.#inTime(call.fingerprint),
        run: { id: this.#session, framework: 'mcp' },
        timeout: 0,
      };
      for (;;) {
        const ran = await this.#client.actions.run(tool, params, this.#act(call, wanted), options);
        call.request = ran.request;
        if (ran.isDone) return final({ result: ran.result });
        if (ran.status !== 'pending') return { answer: inWords(ran.text), isFinal: ENDED.has(ran.status) };
        if (wanted.asTask) this.#makeTask(call, ran.request);
        const waits = call.task
          ? ([Infinity, call.task.cancelled.signal] as const)
          : ([until, signal] as const);
        if (!(await this.#isDecided(ran.request, ...waits))) return open(pendingText(ran.request));
      }
    } catch (error) {
      if (error instanceof Failed) return final(error.answer);
      if (error instanceof NotSent) return final(inWords(error.message));
      if (error instanceof OutcomeUnknown) {
        if (call.hasBegun) return open(`${error.message} ${LOOKED_AT}`);
        // Only this process knows the request's name, and it has begun nothing, whatever became of a lost answer.
        const isOver =
          error.actionRequestId !== undefined && (await this.#reportNotBegun(error.actionRequestId));
        return { answer: inWords('It was not done: what Consigliere answered was lost.'), isFinal: isOver };
      }
      if ((call.task?.cancelled.signal ?? signal).aborted && !call.hasBegun) return undefined;
      return open(`It was not done: ${(error as Error).message}`);
    }
  }

  /** @throws Error */
  async #inTime(fingerprint: Promise<string>): Promise<string> {
    const timer = new AbortController();
    const tooLong = sleep(this.#waitMs, undefined, timer).then(
      () =>
        Promise.reject(new Error('Consigliere does not take its tool yet. Make the same call again later.')),
      () => fingerprint,
    );
    return Promise.race([fingerprint, tooLong]).finally(() => timer.abort());
  }

  /** Sends what was decided to the server, over as many rounds of input as it wants, and answers what it answers. */
  #act(call: OpenCall, { send }: WantedCall) {
    return async (params: Json, { edited, actionRequestId }: Permitted): Promise<Json> => {
      if (!call.signal || call.signal.aborted) {
        this.#open.delete(call);
        throw new NotSent('The client had left, so it was not begun.');
      }
      call.hasBegun = true;
      let input: Input = {};
      for (;;) {
        const { result, error } = await send(params, input, call.signal ?? AbortSignal.abort());
        if (error === UNREADABLE) throw new OutcomeUnknown(UNREADABLE.message, actionRequestId);
        const noted = result && edited ? withNote(result, params) : result;
        if (noted?.['resultType'] === 'input_required') {
          input = await this.#nextRound(call, noted, actionRequestId);
          await this.#assertNotHalted(actionRequestId);
          continue;
        }
        const answer: Answer = error ? { error } : { result: noted! };
        // The client need not wait until it is reported.
        tell(call, { answer, isFinal: true });
        if (error || noted!['isError'] === true) throw new Failed(answer);
        return noted!;
      }
    };
  }

  #makeTask(call: OpenCall, request: ActionRequestView): void {
    if (call.task) return;
    const { expiresAt, createdAt } = request;
    const cancelled = new AbortController();
    const task: Task = {
      taskId: randomUUID(),
      createdAt: new Date(createdAt).toISOString(),
      ttlMs: expiresAt - createdAt,
      statusMessage: pendingText(request),
      cancelled,
    };
    this.#tasks.set(task.taskId, call);
    if (this.#tasks.size > MAX_OPEN) this.#tasks.delete(this.#tasks.keys().next().value!);
    call.task = task;
    call.heard.resolve({
      answer: { result: { resultType: 'task', ...this.taskOf(task.taskId) } },
      isFinal: false,
    });
    call.signal = cancelled.signal;
  }

  /** Nothing can consume it again; trying is refused first because of an engaged kill switch. @throws OutcomeUnknown */
  async #assertNotHalted(actionRequestId: string): Promise<void> {
    const body = { attempt: randomUUID(), paramsHash: '0'.repeat(64) };
    const refused: unknown = await this.#client.actions
      .consume(actionRequestId, body)
      .catch((error: unknown) => error);
    if (refused instanceof ConflictError && refused.code === 'ALREADY_CONSUMED') return;
    const why = refused instanceof Error ? refused.message : 'It can be consumed again.';
    throw new OutcomeUnknown(`It was begun, and not ended. ${why}`, actionRequestId);
  }

  /** The client gets a state of ours in place of the server's, which stands for this call alone and is used once. */
  #nextRound(call: OpenCall, result: Json, actionRequestId: string): Promise<Input> {
    const { promise, resolve, reject } = deferred<Input>();
    const token = randomUUID();
    const answer = { result: { ...result, requestState: token } };
    call.round = {
      token,
      answer,
      abandon: () =>
        reject(new OutcomeUnknown('It was begun, and nobody brought the input.', actionRequestId)),
      resume: ({ inputResponses }) =>
        resolve({
          ...(inputResponses !== undefined && { inputResponses }),
          ...(result['requestState'] !== undefined && { requestState: result['requestState'] }),
        }),
    };
    tell(call, { answer, isFinal: false });
    return promise;
  }

  /** Waits until a person or an order has decided; false when the time is over. */
  async #isDecided(
    { actionRequestId }: ActionRequestView,
    until: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    for (;;) {
      const left = until - performance.now();
      if (left <= 0) return false;
      const wait = Math.min(30, Math.floor(left / 1_000));
      const { status, retryAt } = await this.#client.actions.get(actionRequestId, { wait }, { signal });
      if (status !== 'pending') return true;
      // The service waits for whole seconds, and for what an order paces it does not wait.
      if (wait === 0 || retryAt !== null) await sleep(Math.min(left, 250), undefined, { signal });
    }
  }

  async #reportNotBegun(actionRequestId: string): Promise<boolean> {
    const result = { outcome: 'failed', summary: 'It was not begun.' } as const;
    return this.#client.actions.report(actionRequestId, result).then(
      () => true,
      () => false,
    );
  }
}

/** What is no end, and nobody hears now, the client hears again by the same call. */
function tell(call: OpenCall, told: Told): void {
  call.hasEnded = told.isFinal;
  if (call.task && !call.round) call.task.answer = told.answer;
  if (told.isFinal || call.signal) call.heard.resolve(told);
}

const BEGUN =
  'It was begun, and the server has not answered yet. It is not done again; the same call waits for its answer.';
const LOOKED_AT =
  'A person is asked to look. Until they have said what came of it, the same call does nothing.';

function pendingText({ approvalId, actionRequestId }: ActionRequestView): string {
  const waitsFor = approvalId ? `for a person (${approvalId})` : `to be decided (${actionRequestId})`;
  return `Pending: this call waits ${waitsFor}, and nothing was done yet. Make exactly the same call again to go on waiting.`;
}

/** What a person changed is told: the answer is that to other parameters than the model has given. */
function withNote(result: Json, params: Json): Json {
  if (!Array.isArray(result['content'])) return result;
  const text = `A person changed the parameters before this was done. They were: ${JSON.stringify(params)}`;
  return { ...result, content: [...(result['content'] as unknown[]), { type: 'text', text }] };
}

function wordsOf({ result, error }: Answer): string {
  if (error) return error.message;
  const content = Array.isArray(result?.['content']) ? (result['content'] as unknown[]) : [];
  const texts = content.flatMap((block) =>
    isObject(block) && typeof block['text'] === 'string' ? [block['text']] : [],
  );
  return texts.join(' ') || 'The tool says that it failed.';
}
