import {
  APIError,
  ConflictError,
  GoneError,
  HaltedError,
  NotAnAgentToken,
  OutcomeUnknown,
  UnprocessableError,
} from './errors.js';
import type { Consigliere } from './client.js';
import { patient, waitUntil } from './client.js';
import type { ActionRequestView, ConsumedActionRequest, CreateActionRequestBody } from './generated/types.js';

type Params = Record<string, unknown>;

/** What an act is told besides its parameters. */
export interface Permitted {
  /** The request that was decided. */
  actionRequestId: string;
  /** Goes to what stands in front of the tool; it is valid for 60 seconds, once (CONTRACT, section 7, Permit). */
  permit: string;
  /** Whether a person changed the parameters. */
  edited: boolean;
  /** The signal that the guard was given. */
  signal: AbortSignal | undefined;
}

/** Does what was decided. Throw {@link OutcomeUnknown} where it cannot be told whether it was done. */
export type Act<P extends Params, R> = (params: P, permitted: Permitted) => R | Promise<R>;

/** What is said of a request besides its tool and parameters (CONTRACT, section 7, Action request). */
export interface AskOptions extends Pick<
  CreateActionRequestBody,
  'reason' | 'run' | 'externalId' | 'teamId' | 'expiresInSeconds' | 'fingerprint'
> {
  /** Ends the waiting; what was asked for is taken back. */
  signal?: AbortSignal;
  /**
   * How long to wait for a person, in milliseconds; without it until the request expires. Then it is taken back, unless it has an
   * `externalId`, under which it is found again.
   */
  timeout?: number;
}

/** This call did nothing: a person or an order said no, nobody decided, it was cancelled, or it had been done before. */
export interface Refused {
  /** Tells the two answers of `run` apart. */
  isDone: false;
  /** Where the request stands. */
  status: ActionRequestView['status'];
  /** For a model: what became of it, with what a person said. */
  text: string;
  /** The request itself. */
  request: ActionRequestView;
}

/** It was done. */
export interface Done<R> {
  /** Tells the two answers of `run` apart. */
  isDone: true;
  /** What the act answered. */
  result: R;
  /** The request; `completed`, unless that could not be reported, which people are told then. */
  request: ActionRequestView;
}

/** The part of `client.actions` that acts on what was decided (CONTRACT, section 7). */
export interface ActionMethods {
  /**
   * Asks for one call of a tool, waits for the decision, and does it, once, with the parameters that were decided; then
   * reports what came of it. A refusal is answered, not thrown.
   * @throws OutcomeUnknown, NotAnAgentToken, what `act` throws; APIError and ConnectionError, when nothing was done
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

/** See `client.actions.run`. */
export async function run<P extends Params, R>(
  client: Consigliere,
  tool: string,
  params: P,
  act: Act<P, R>,
  { signal, timeout = Infinity, ...asked }: AskOptions = {},
): Promise<Done<R> | Refused> {
  // Before the request leaves: what the service takes to answer counts against the time to begin.
  let sent = now();
  const { data: first, response } = await client.actions
    .request({ tool, params, ...asked, consume: true }, { signal })
    .withResponse();
  const { actionRequestId } = first;
  const isMine = response.status === 201;
  if (first.agent.name === null) {
    if (isMine) await takeBack(client, first);
    throw new NotAnAgentToken(
      'This token belongs to a member. Make one for the agent: consigliere agents add <name> --tool <tool>',
    );
  }
  if (isMine && first.status === 'consumed') {
    // By this very call. A repeated answer has no permit, which the same attempt gets again for a minute.
    const consumed = first.permit ? first : await consume(client, first, actionRequestId);
    if ('isDone' in consumed) return consumed;
    return carryOut(client, consumed as ConsumedActionRequest, act, sent, signal);
  }
  const until = performance.now() + timeout;
  for (let request: ActionRequestView = first; ; request = await client.actions.get(actionRequestId)) {
    if (request.status === 'pending') {
      const left = Math.max(0, until - performance.now());
      request = await decided(client, actionRequestId, left, signal).catch(async (error: unknown) => {
        if (signal?.aborted) await takeBack(client, request);
        throw error;
      });
      if (request.status === 'pending' && !asked.externalId) await takeBack(client, request);
    }
    if (request.status === 'consumed' || request.status === 'unconfirmed') throw begunElsewhere(request);
    if (request.status !== 'allowed' && request.status !== 'approved') return refused(request);
    sent = now();
    const consumed = await consume(client, request, randomId());
    if (!('isDone' in consumed)) return carryOut(client, consumed, act, sent, signal);
    // What was approved may need another approval by now, which is waited for like the first.
    if (consumed.status !== 'pending') return consumed;
  }
}

async function carryOut<P extends Params, R>(
  client: Consigliere,
  consumed: ConsumedActionRequest,
  act: Act<P, R>,
  sent: Moment,
  signal: AbortSignal | undefined,
): Promise<Done<R> | Refused> {
  const { actionRequestId, actBy, consumedAt, permit, decision, title } = consumed;
  const tell = (outcome: 'succeeded' | 'failed', summary: string, output?: Params) =>
    client.actions.report(actionRequestId, { outcome, summary: cut(summary), output });
  /** What cannot be told leaves the request without a result, which people are asked to look into. */
  const report = (...[outcome, summary, output]: Parameters<typeof tell>) =>
    tell(outcome, summary, output)
      // The output may hold what the service does not take.
      .catch((error: unknown) => (output && error instanceof APIError ? tell(outcome, summary) : consumed))
      .catch(() => consumed);
  if (signal?.aborted || since(sent) >= actBy! - consumedAt!) {
    const text = 'It was too late to begin, so it was not done.';
    return { isDone: false, status: 'failed', text, request: await report('failed', text) };
  }
  let result: R;
  try {
    const edited = JSON.stringify(consumed.params) !== JSON.stringify(decision!.params);
    result = await act(decision!.params as P, { actionRequestId, permit, edited, signal });
  } catch (error) {
    if (error instanceof OutcomeUnknown) throw error;
    if (mayHaveArrived(error)) {
      const message =
        'The connection was lost after it had begun, so it may have been done. It is not done again.';
      throw new OutcomeUnknown(message, actionRequestId, { cause: error });
    }
    await report('failed', error instanceof Error ? error.message : String(error));
    throw error;
  }
  return { isDone: true, result, request: await report('succeeded', `${title}: done.`, outputOf(result)) };
}

/** Consumes what may be consumed; an answer that is lost is asked for again, with the same attempt. Answers a refusal. */
async function consume(
  client: Consigliere,
  { actionRequestId, paramsHash }: ActionRequestView,
  attempt: string,
): Promise<ConsumedActionRequest | Refused> {
  try {
    return await client.actions.consume(actionRequestId, { attempt, paramsHash });
  } catch (error) {
    const isRefusal = [ConflictError, GoneError, UnprocessableError, HaltedError].some(
      (known) => error instanceof known,
    );
    if (!isRefusal) throw error;
    const request = await client.actions.get(actionRequestId);
    if (request.status === 'consumed' || request.status === 'unconfirmed') throw begunElsewhere(request);
    return { ...refused(request), text: `It was not done: ${(error as Error).message}` };
  }
}

/** The request once it is decided, or as it is when the time is over. @throws the reason of the signal */
async function decided(
  client: Consigliere,
  actionRequestId: string,
  timeout: number,
  signal: AbortSignal | undefined,
): Promise<ActionRequestView> {
  return waitUntil(
    { timeout, signal },
    ({ status }: ActionRequestView) => status !== 'pending',
    (wait) => client.actions.get(actionRequestId, { wait }, patient(signal)),
  );
}

async function takeBack(client: Consigliere, { actionRequestId, status }: ActionRequestView): Promise<void> {
  const call =
    status === 'consumed'
      ? client.actions.report(actionRequestId, { outcome: 'failed', summary: 'It was not begun.' })
      : client.actions.cancel(actionRequestId);
  await call.catch(() => undefined);
}

function begunElsewhere({ actionRequestId }: ActionRequestView): OutcomeUnknown {
  return new OutcomeUnknown(
    'Another attempt has begun it, and what came of that is not known. It is not done again.',
    actionRequestId,
  );
}

function refused(request: ActionRequestView): Refused {
  const { status, decision, endedBecause, policy, result, externalId } = request;
  const said =
    decision?.feedback ?? endedBecause ?? (status === 'denied' ? policy.explanation.join(' ') : '');
  const came = `${result?.summary ?? ''} ${result?.output ? JSON.stringify(result.output) : ''}`;
  const texts: Partial<Record<ActionRequestView['status'], string>> = {
    pending: `Nobody has decided in time. It was not done. ${externalId ? 'The same call again goes on waiting.' : ''}`,
    denied: `The standing orders do not allow this. It was not done. ${said}`,
    rejected: `A person rejected this. It was not done. They said: ${said}`,
    expired: `It was not done. ${said}`,
    cancelled: `It was cancelled and not done. ${said}`,
    completed: `It was done before, and is not done again. ${came}`,
    failed: `It was tried before, and failed. ${came}`,
  };
  return { isDone: false, status, text: (texts[status] ?? `It was not done: ${status}.`).trim(), request };
}

/** How Node.js, its HTTP libraries and Bun name a connection that was lost after something may have been sent. */
const LOST_CODE =
  /^(E?(CONNRESET|CONNABORTED|PIPE|(SOCKET)?TIMEDOUT)|ERR_(NETWORK|STREAM_\w+|HTTP2_\w+)|Connection(Closed|Reset)|UND_ERR_(SOCKET|ABORTED|(HEADERS|BODY)_TIMEOUT))$/;
/** What other platforms say, whose errors have no code; a connection that was refused has sent nothing. */
const LOST_TEXT =
  /failed to fetch|load failed|network ?error|connection (?!.*refused)|socket hang up|time(d |-)?out|deadline/i;

/** An error after which what was sent may have had its effect: the answer was lost, or nobody waited for it any more. */
function mayHaveArrived(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { name, message, code } = cause as Error & { code?: unknown };
    if (/^(Abort|Timeout)Error$/.test(name) || LOST_CODE.test(String(code))) return true;
    // An error of a class of its own says what the tool has answered.
    const isPlain = /^(Type)?Error$/.test(cause.constructor.name);
    if (isPlain && typeof code !== 'string' && LOST_TEXT.test(message)) return true;
  }
  return false;
}

/** By two clocks: one that nobody sets, and one that goes on while the machine sleeps. */
interface Moment {
  steady: number;
  wall: number;
}

function now(): Moment {
  return { steady: performance.now(), wall: Date.now() };
}

/** Milliseconds that have passed, or more. */
function since({ steady, wall }: Moment): number {
  return Math.max(performance.now() - steady, Date.now() - wall);
}

/** 128 bits and more. */
function randomId(): string {
  return crypto.randomUUID() + crypto.randomUUID().slice(0, 8);
}

const MAX_OUTPUT_BYTES = 8_192;

/** A result takes an object of at most 8 KB: of anything else, its beginning. */
function outputOf(result: unknown): Params | undefined {
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

/** A summary takes 500 characters, none of them NUL. */
function cut(summary: string): string {
  return (summary.replaceAll('\0', '').trim() || 'It gave no reason.').slice(0, 500).toWellFormed();
}
