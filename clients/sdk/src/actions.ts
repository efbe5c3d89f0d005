import {
  ConsigliereError,
  ConflictError,
  ConnectionError,
  GoneError,
  HaltedError,
  UnprocessableError,
} from './errors.js';
import type { Consigliere } from './client.js';
import { waitUntil } from './client.js';
import type {
  ActionRequestView,
  AskedActionRequest,
  ConsumedActionRequest,
  CreateActionRequestBody,
} from './generated/types.js';
import { sleep } from './http.js';

type Params = Record<string, unknown>;

/** What an act is told besides its parameters. */
export interface Permitted {
  actionRequestId: string;
  /** Goes to what stands in front of the tool; it is valid for 60 seconds, once. */
  permit: string;
  /** Whether a person changed the parameters. */
  edited: boolean;
  signal: AbortSignal | undefined;
}

/** Does what was decided. Throw {@link OutcomeUnknown} where it cannot be told whether it was done. */
export type Act<P extends Params, R> = (params: P, permitted: Permitted) => R | Promise<R>;

export interface AskOptions extends Pick<
  CreateActionRequestBody,
  'reason' | 'run' | 'externalId' | 'teamId' | 'expiresInSeconds' | 'fingerprint'
> {
  /** Ends the waiting; what was asked for is taken back. */
  signal?: AbortSignal;
  /** How long to wait for a person, in milliseconds; without it until the request expires. */
  timeout?: number;
}

/** This call did nothing: a person or an order said no, nobody decided, it was called off, or it had been done before. */
export interface Refused {
  isDone: false;
  status: ActionRequestView['status'];
  /** For a model: what became of it, with what a person said. */
  text: string;
  request: ActionRequestView;
}

export interface Done<R> {
  isDone: true;
  result: R;
  request: ActionRequestView;
}

/** It may have been done or not, so it must not be done again: a person has to look. */
export class OutcomeUnknown extends ConsigliereError {
  constructor(
    message: string,
    readonly actionRequestId?: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** The token is that of a member. A guard takes an agent's alone, which can do nothing but ask. */
export class NotAnAgentToken extends ConsigliereError {}

export interface ActionMethods {
  /**
   * Asks for one call of a tool, waits for the decision, and does it, once, with the parameters that were decided; then
   * reports what came of it. A refusal is answered, not thrown.
   * @throws OutcomeUnknown, NotAnAgentToken, what `act` throws, and APIError
   */
  run<P extends Params, R>(
    tool: string,
    params: P,
    act: Act<P, R>,
    options?: AskOptions,
  ): Promise<Done<R> | Refused>;

  /**
   * Puts a function under policy: the guarded one asks before each call. Where it is refused it answers a text, which a model can read.
   * @throws as `run`
   */
  guard<P extends Params, R>(
    tool: string,
    act: Act<P, R>,
    options?: AskOptions | ((params: P) => AskOptions),
  ): (params: P) => Promise<R | string>;
}

export function actionMethods(client: Consigliere): ActionMethods {
  const run: ActionMethods['run'] = (tool, params, act, options = {}) =>
    runOnce(client, tool, params, act, options);
  return {
    run,
    guard: (tool, act, options) => async (params) => {
      const ran = await run(tool, params, act, typeof options === 'function' ? options(params) : options);
      return ran.isDone ? ran.result : ran.text;
    },
  };
}

async function runOnce<P extends Params, R>(
  client: Consigliere,
  tool: string,
  params: P,
  act: Act<P, R>,
  { signal, timeout, ...asked }: AskOptions,
): Promise<Done<R> | Refused> {
  // Before the request leaves: what the service takes to answer counts against the time to begin.
  let sent = performance.now();
  const { data: first, response } = await client.actions
    .request({ tool, params, ...asked, consume: true }, { signal })
    .withResponse();
  const { actionRequestId } = first;
  const isMine = response.status === 201;
  if (first.agent.name === null) {
    if (isMine) await takeBack(client, first);
    throw new NotAnAgentToken(
      'This token is that of a member. Make one for the agent: consigliere agents add <name> --tool <tool>',
    );
  }
  let request: ActionRequestView = first;
  if (request.status === 'pending') {
    request = await decided(client, actionRequestId, { signal, timeout }).catch(async (error: unknown) => {
      if (signal?.aborted) await takeBack(client, request);
      throw error;
    });
  }
  let consumed: Partial<ConsumedActionRequest> & AskedActionRequest = first;
  if (request.status === 'allowed' || request.status === 'approved') {
    sent = performance.now();
    const found = await consume(client, request, randomId());
    if ('isDone' in found) return found;
    consumed = found;
  } else if (request.status === 'consumed' && isMine && request === first) {
    // Consumed by this very call. A repeated answer has no permit, which the same attempt gets again for a minute.
    if (!first.permit) {
      const found = await consume(client, request, actionRequestId);
      if ('isDone' in found) return found;
      consumed = found;
    }
  } else if (request.status === 'consumed' || request.status === 'unconfirmed') {
    throw new OutcomeUnknown(
      'Another attempt has begun it, and what came of that is not known. It is not done again.',
      actionRequestId,
    );
  } else return refused(request);

  return carryOut(client, consumed as ConsumedActionRequest, act, sent, signal);
}

async function carryOut<P extends Params, R>(
  client: Consigliere,
  consumed: ConsumedActionRequest,
  act: Act<P, R>,
  sent: number,
  signal: AbortSignal | undefined,
): Promise<Done<R> | Refused> {
  const { actionRequestId, actBy, consumedAt, permit, decision } = consumed;
  const report = (outcome: 'succeeded' | 'failed', summary: string, output?: unknown) =>
    client.actions.report(actionRequestId, { outcome, summary: cut(summary), output: outputOf(output) });
  // By a clock that nobody sets: the wall clock of this machine may differ from that of the service.
  if (signal?.aborted || performance.now() - sent >= actBy! - consumedAt!) {
    const text = 'It was too late to begin, so it was not done.';
    const request = await report('failed', text);
    return { isDone: false, status: 'failed', text, request };
  }
  let result: R;
  try {
    result = await act(decision!.params as P, {
      actionRequestId,
      permit,
      edited: isEdited(consumed),
      signal,
    });
  } catch (error) {
    // Without a result a person is asked to look.
    if (error instanceof OutcomeUnknown) throw error;
    await report('failed', error instanceof Error ? error.message : String(error)).catch(() => undefined);
    throw error;
  }
  // It is done, whether or not that can be reported: a person is asked to look if it cannot.
  const request = await report('succeeded', `${consumed.title}: done.`, result).catch(() => consumed);
  return { isDone: true, result, request };
}

/** Consumes what may be consumed. An answer that is lost is asked for again, with the same attempt. */
async function consume(
  client: Consigliere,
  { actionRequestId, paramsHash }: ActionRequestView,
  attempt: string,
): Promise<ConsumedActionRequest | Refused> {
  try {
    return await client.actions.consume(actionRequestId, { attempt, paramsHash });
  } catch (error) {
    if (error instanceof ConnectionError) {
      throw new OutcomeUnknown(
        'Whether it was taken up is not known. It was not begun here.',
        actionRequestId,
        { cause: error },
      );
    }
    const isRefusal = [ConflictError, GoneError, UnprocessableError, HaltedError].some(
      (known) => error instanceof known,
    );
    if (!isRefusal) throw error;
    const request = await client.actions.get(actionRequestId);
    if (request.status === 'consumed' || request.status === 'unconfirmed') {
      throw new OutcomeUnknown('Another attempt has begun it. It is not done again.', actionRequestId, {
        cause: error,
      });
    }
    return { ...refused(request), text: `It was not done: ${(error as Error).message}` };
  }
}

/** The request once it is decided. @throws the reason of the signal */
async function decided(
  client: Consigliere,
  actionRequestId: string,
  options: { signal?: AbortSignal; timeout?: number },
): Promise<ActionRequestView> {
  return waitUntil(
    options,
    ({ status }: ActionRequestView) => status !== 'pending',
    async (wait, signal) => {
      const request = await client.actions.get(actionRequestId, { wait }, { signal });
      // What is paced is decided at its time, and waiting for it ends early.
      if (request.status === 'pending' && request.retryAt !== null) await sleep(250, signal);
      return request;
    },
  );
}

async function takeBack(client: Consigliere, { actionRequestId, status }: ActionRequestView): Promise<void> {
  const call =
    status === 'consumed'
      ? client.actions.report(actionRequestId, { outcome: 'failed', summary: 'It was not begun.' })
      : client.actions.cancel(actionRequestId);
  await call.catch(() => undefined);
}

function refused(request: ActionRequestView): Refused {
  const { status, decision, endedBecause, policy } = request;
  const said =
    decision?.feedback ?? endedBecause ?? (status === 'denied' ? policy.explanation.join(' ') : '');
  const texts: Partial<Record<ActionRequestView['status'], string>> = {
    pending: 'Nobody has decided yet. It was not done; ask again with the same call.',
    denied: `The standing orders do not allow this. It was not done. ${said}`,
    rejected: `A person rejected this. It was not done. They said: ${said}`,
    expired: `It was not done. ${said}`,
    cancelled: `It was called off and not done. ${said}`,
    completed: `It was done before, and is not done again. ${request.result?.summary ?? ''} ${JSON.stringify(request.result?.output ?? '')}`,
    failed: `It was tried before, and failed. ${request.result?.summary ?? ''}`,
  };
  return { isDone: false, status, text: (texts[status] ?? `It was not done: ${status}.`).trim(), request };
}

function isEdited({ params, decision }: ConsumedActionRequest): boolean {
  return JSON.stringify(params) !== JSON.stringify(decision!.params);
}

/** 128 bits. */
function randomId(): string {
  return crypto.randomUUID() + crypto.randomUUID().slice(0, 8);
}

const MAX_OUTPUT_BYTES = 8_192;

/** A result takes an object of at most 8 KB: of anything else, its beginning. */
function outputOf(result: unknown): Params | undefined {
  if (result === undefined) return undefined;
  let text: string | undefined;
  try {
    text = JSON.stringify(result);
  } catch {
    // What refers to itself has no JSON.
  }
  if (text === undefined) return undefined;
  const fits = text.startsWith('{') && new TextEncoder().encode(text).length <= MAX_OUTPUT_BYTES;
  return fits ? (JSON.parse(text) as Params) : { beginning: text.slice(0, 2_000).toWellFormed() };
}

function cut(summary: string): string {
  return (summary.trim() || 'It gave no reason.').slice(0, 500).toWellFormed();
}
