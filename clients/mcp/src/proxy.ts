import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Consigliere, OutcomeUnknown } from '@consigliere/sdk';
import { type Answer, AskedCalls, CannotContinue, NotSent, type WantedCall } from './proxy-calls.js';
import { type Command, isObject, type Message, messagesOf, ServerProcess, write } from './proxy-server.js';
import {
  assertServerName,
  ListedTools,
  methodNameOf,
  READ,
  serverNameOf,
  SUBSCRIBE,
  toolNameOf,
} from './proxy-tools.js';

type Json = Record<string, unknown>;

export interface ProxyOptions extends Command {
  /** What the server is called in the names of its tools, `mcp.<name>.<tool>`; made from its command unless given. */
  name?: string;
  /** Where the client writes; standard input unless given. */
  input?: Readable;
  /** Where the client reads; standard output unless given. */
  output?: Writable;
  /** Takes what a person should know, line by line; standard error unless given. */
  log?: (line: string) => void;
  /** How long a call waits for a decision before it is answered as pending, in milliseconds; 50,000 unless given. */
  waitMs?: number;
  /** How long the server has for its answer to a call, in milliseconds; 15 minutes unless given. */
  callMs?: number;
  /** Ends the proxy. */
  signal?: AbortSignal;
}

/** Why the proxy has ended. */
export interface ProxyEnd {
  by: 'client' | 'server';
  reason: string;
}

/** What a client may ask a server for without asking Consigliere. */
const PASSED = new Set([
  'initialize',
  'server/discover',
  'ping',
  'logging/setLevel',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'subscriptions/listen',
]);
const CLIENT_NOTIFICATIONS = new Set([
  'notifications/initialized',
  'notifications/progress',
  'notifications/roots/list_changed',
]);
/** What a server may ask its client for. */
const SERVER_REQUESTS = new Set(['ping', 'roots/list', 'sampling/createMessage', 'elicitation/create']);

const CANCELLED = 'notifications/cancelled';
const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';
const TASKS = 'io.modelcontextprotocol/tasks';

const [INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, REFUSED] = [-32600, -32601, -32602, -32000];
const MAX_REQUESTS = 1_000;
const MAX_UNREADABLE_LINES = 100;
/** How long what was begun has to be reported when the proxy ends. */
const SETTLE_MS = 3_000;

/**
 * Stands between an MCP client, at standard input and output, and an MCP server that it starts as a child. Whatever the client wants
 * a tool to do, and each resource that it wants to read, is asked for at Consigliere first (docs/guides/clients/proxy.md).
 * @throws TypeError for a name that no tool can have
 */
export async function runProxy(client: Consigliere, options: ProxyOptions): Promise<ProxyEnd> {
  const name = options.name ?? serverNameOf(options.command, options.args);
  assertServerName(name);
  return new McpProxy(client, name, options).run();
}

/** A request that was passed on and waits for its answer. */
interface Passed {
  answer: (message: Message) => void;
  fail: (reason: string) => void;
  /** The id that the asking side gave it. */
  id: Message['id'];
}

class McpProxy {
  readonly #server: ServerProcess;
  readonly #name: string;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #log: (line: string) => void;
  readonly #callMs: number;
  readonly #stop: AbortSignal | undefined;
  readonly #tools: ListedTools;
  readonly #calls: AskedCalls;
  /** Requests of the client that are not answered, by their id as JSON: 1 and "1" are two. */
  readonly #requests = new Map<string, AbortController>();
  /** What the server has not answered, by the ids that it was given. */
  readonly #toServer = new Map<number, Passed>();
  /** What the client has not answered to the server, by the ids that it was given. */
  readonly #toClient = new Map<string, Message['id']>();
  #ids = 0;
  #ended: string | undefined;

  constructor(client: Consigliere, name: string, options: ProxyOptions) {
    this.#name = name;
    this.#input = options.input ?? process.stdin;
    this.#output = options.output ?? process.stdout;
    this.#log = options.log ?? ((line) => console.error(`consigliere: ${line}`));
    this.#callMs = options.callMs ?? 15 * 60_000;
    this.#stop = options.signal;
    this.#tools = new ListedTools(client, name, this.#log);
    this.#calls = new AskedCalls(client, (tool) => this.#tools.fingerprintOf(tool), options.waitMs ?? 50_000);
    this.#server = new ServerProcess(options);
  }

  async run(): Promise<ProxyEnd> {
    const clientLeft = this.#readClient().then((reason): ProxyEnd => ({ by: 'client', reason }));
    const serverLeft = this.#readServer().then((reason): ProxyEnd => ({ by: 'server', reason }));
    const stopped = new Promise<ProxyEnd>((resolve) => {
      const stop = () => resolve({ by: 'client', reason: 'The proxy was told to end.' });
      if (this.#stop?.aborted) stop();
      this.#stop?.addEventListener('abort', stop, { once: true });
    });
    const end = await Promise.race([clientLeft, serverLeft, stopped]);
    if (end.by === 'server') this.#log(end.reason);
    else for (const request of this.#requests.values()) request.abort();
    // What was begun may still be answered while the server ends by itself.
    await Promise.all([this.#calls.close(), this.#server.end()]);
    this.#serverEnds(end.reason);
    await Promise.race([this.#calls.settled(), sleep(SETTLE_MS, undefined, { ref: false })]);
    await Promise.race([this.#answered(), sleep(SETTLE_MS, undefined, { ref: false })]);
    for (const request of this.#requests.values()) request.abort();
    this.#input.destroy();
    return end;
  }

  async #readClient(): Promise<string> {
    this.#output.on('error', () => this.#input.destroy());
    try {
      for await (const message of messagesOf(this.#input)) {
        if (message) await this.#fromClient(message);
        else await this.#respond(null, refusal(INVALID_REQUEST, 'This line is no message of JSON-RPC 2.0.'));
      }
    } catch (error) {
      return `The client cannot be read: ${(error as Error).message}.`;
    }
    return 'The client has left.';
  }

  /** Answers why the server cannot be used any more. */
  async #readServer(): Promise<string> {
    let unreadable = 0;
    try {
      for await (const message of messagesOf(this.#server.output)) {
        if (message) await this.#fromServer(message);
        else if (++unreadable === 1)
          this.#log(`${this.#what} wrote a line that is no message; it is left out.`);
        else if (unreadable >= MAX_UNREADABLE_LINES) {
          return `${this.#what} wrote ${unreadable} lines that are no messages, so it was ended.`;
        }
      }
    } catch (error) {
      return `${this.#what} was ended: ${(error as Error).message}.`;
    }
    const patience = new AbortController();
    const silent = sleep(1_000, 'closed its output', patience).catch(() => '');
    const reason = await Promise.race([this.#server.ended, silent]);
    patience.abort();
    return `${this.#what} ${reason}.`;
  }

  get #what(): string {
    return `The MCP server ${this.#name}`;
  }

  async #fromClient(message: Message): Promise<void> {
    const { id, method } = message;
    if (method === undefined) return this.#answerServer(message);
    if (id === undefined) return this.#notifyServer(message);
    const key = JSON.stringify(id);
    const refused = this.#requests.has(key)
      ? refusal(INVALID_REQUEST, 'A request with this id is being answered.')
      : this.#requests.size >= MAX_REQUESTS
        ? refusal(REFUSED, `${MAX_REQUESTS} requests wait for their answers already.`)
        : undefined;
    if (refused) return this.#respond(id!, refused);
    const cancelled = new AbortController();
    this.#requests.set(key, cancelled);
    // One that waits does not keep those behind it from being read.
    void this.#answerTo(message, cancelled.signal)
      .then((answer) => (answer && !cancelled.signal.aborted ? this.#respond(id!, answer) : undefined))
      .finally(() => this.#requests.delete(key));
  }

  async #answerTo({ id, method, params = {} }: Message, signal: AbortSignal): Promise<Answer | undefined> {
    try {
      if (this.#ended !== undefined) return refusal(REFUSED, this.#ended);
      if (method === 'tools/call') return await this.#call(params, signal);
      if (method === READ || method === SUBSCRIBE) return await this.#readOrSubscribe(method, params, signal);
      if (method === 'tasks/get' || method === 'tasks/update' || method === 'tasks/cancel') {
        return await this.#task(method, params);
      }
      if (!PASSED.has(method!)) return refusal(METHOD_NOT_FOUND, `The proxy does not pass on ${method}.`);
      const { notifications } = params;
      if (isObject(notifications) && notifications['resourceSubscriptions'] !== undefined) {
        return refusal(
          METHOD_NOT_FOUND,
          'The proxy does not pass on subscriptions to resources within subscriptions/listen.',
        );
      }
      const passed = await this.#ask(method!, withoutTasks(params), signal, id);
      return this.#seen(method!, passed, id);
    } catch (error) {
      if (error instanceof CannotContinue) return refusal(INVALID_PARAMS, error.message);
      return refusal(REFUSED, (error as Error).message);
    }
  }

  async #call(params: Json, signal: AbortSignal): Promise<Answer | undefined> {
    const { name, arguments: given = {}, task } = params;
    if (typeof name !== 'string' || !isObject(given)) {
      return refusal(INVALID_PARAMS, 'tools/call needs a name, and arguments that are an object.');
    }
    if (task !== undefined) {
      return refusal(
        INVALID_PARAMS,
        'The proxy knows the tasks of 2026-07-28 only, where a call has no task.',
      );
    }
    const isModern = isObject(params['_meta']) && params['_meta'][PROTOCOL_VERSION] !== undefined;
    const inWords = (text: string): Answer => ({
      result: {
        content: [{ type: 'text', text }],
        isError: true,
        ...(isModern && { resultType: 'complete' }),
      },
    });
    return this.#asked('tools/call', toolNameOf(this.#name, name), given, params, signal, {
      inWords,
      paramsOf: (decided) => ({ name, arguments: decided }),
    });
  }

  /** The tasks are the proxy's own, for calls that wait: the server has none. */
  async #task(method: string, { taskId, inputResponses }: Json): Promise<Answer> {
    if (!this.#calls.taskOf(taskId)) return refusal(INVALID_PARAMS, 'There is no such task.');
    if (method === 'tasks/update') this.#calls.updateTask(taskId, inputResponses);
    if (method === 'tasks/cancel') await this.#calls.cancelTask(taskId);
    return { result: { ...(method === 'tasks/get' && this.#calls.taskOf(taskId)), resultType: 'complete' } };
  }

  async #readOrSubscribe(
    method: typeof READ | typeof SUBSCRIBE,
    params: Json,
    signal: AbortSignal,
  ): Promise<Answer | undefined> {
    const { uri } = params;
    if (typeof uri !== 'string') return refusal(INVALID_PARAMS, `${method} needs a uri.`);
    return this.#asked(method, methodNameOf(this.#name, method), { uri }, params, signal, {
      inWords: (text) => refusal(REFUSED, text),
      paramsOf: (decided) => decided,
    });
  }

  #asked(
    method: string,
    tool: string,
    params: Json,
    { _meta, inputResponses, requestState }: Json,
    signal: AbortSignal,
    { inWords, paramsOf }: Pick<WantedCall, 'inWords'> & { paramsOf: (decided: Json) => Json },
  ): Promise<Answer | undefined> {
    const meta = isObject(_meta) ? { _meta: knownMeta(_meta) } : {};
    const send: WantedCall['send'] = async (decided, input, live) => {
      if (this.#ended !== undefined) throw new NotSent(`It was not done. ${this.#ended}`);
      const unknown = (why: string) => new OutcomeUnknown(`Whether it was done is not known. ${why}`);
      const timer = new AbortController();
      const tooLong = sleep(this.#callMs, undefined, timer).then(
        () => Promise.reject(unknown(`${this.#what} has not answered in time.`)),
        () => new Promise<never>(() => undefined),
      );
      const asked = this.#ask(method, withoutTasks({ ...paramsOf(decided), ...input, ...meta }), live);
      try {
        return await Promise.race([
          asked.catch((error: Error) => Promise.reject(unknown(error.message))),
          tooLong,
        ]);
      } finally {
        timer.abort();
      }
    };
    const capabilities = isObject(_meta) ? _meta[CLIENT_CAPABILITIES] : undefined;
    const extensions = isObject(capabilities) ? capabilities['extensions'] : undefined;
    const asTask = method === 'tools/call' && isObject(extensions) && isObject(extensions[TASKS]);
    const input = { inputResponses, requestState };
    return this.#calls.answer({ tool, params, input, send, inWords, asTask }, signal);
  }

  /** Sends a request to the server under an id of ours. @throws Error where no answer can come any more */
  async #ask(method: string, params: Json, signal: AbortSignal, id?: Message['id']): Promise<Message> {
    const ours = ++this.#ids;
    const answered = new Promise<Message>((answer, reject) => {
      this.#toServer.set(ours, { answer, fail: (reason) => reject(new Error(reason)), id });
    });
    const cancel = () =>
      void this.#tellServer(CANCELLED, { requestId: ours, reason: 'The client cancelled it.' });
    signal.addEventListener('abort', cancel, { once: true });
    try {
      await write(this.#server.input, { jsonrpc: '2.0', id: ours, method, params });
      if (this.#ended !== undefined) throw new Error(this.#ended);
      return await answered;
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#toServer.delete(ours);
    }
  }

  /** What the server's answer says of it is taken note of, and what the proxy cannot do is left out. */
  #seen(method: string, { result, error }: Message, id: Message['id']): Answer {
    if (error || !result) return { error: error! };
    if (method === 'tools/list' && Array.isArray(result['tools'])) this.#tools.list(result['tools']);
    const { capabilities, _meta } = result;
    if (isObject(_meta) && _meta[SUBSCRIPTION_ID] !== undefined) {
      return { result: { ...result, _meta: { ..._meta, [SUBSCRIPTION_ID]: id } } };
    }
    if ((method !== 'initialize' && method !== 'server/discover') || !isObject(capabilities))
      return { result };
    const { resources } = capabilities;
    if (isObject(resources)) this.#tools.listResources(resources['subscribe'] === true);
    const passed = withoutTaskCapabilities(capabilities);
    const own = { extensions: { ...(passed['extensions'] as Json), [TASKS]: {} } };
    return { result: { ...result, capabilities: { ...passed, ...(method === 'server/discover' && own) } } };
  }

  async #notifyServer({ method, params = {} }: Message): Promise<void> {
    if (method === CANCELLED) return this.#requests.get(JSON.stringify(params['requestId']))?.abort();
    if (CLIENT_NOTIFICATIONS.has(method!)) return this.#tellServer(method!, params);
    this.#log(`The client sent ${method}, which is not passed on.`);
  }

  #tellServer(method: string, params: Json): Promise<void> {
    return write(this.#server.input, { jsonrpc: '2.0', method, params });
  }

  async #answerServer({ id, result, error }: Message): Promise<void> {
    const theirs = this.#toClient.get(String(id));
    if (theirs === undefined) return;
    this.#toClient.delete(String(id));
    await write(this.#server.input, {
      jsonrpc: '2.0',
      id: theirs,
      ...(error ? { error } : { result: result! }),
    });
  }

  async #fromServer(message: Message): Promise<void> {
    const { id, method, params } = message;
    if (method === undefined) return this.#toServer.get(Number(id))?.answer(message);
    if (id === undefined) return this.#notifyClient(message);
    if (!SERVER_REQUESTS.has(method) || this.#toClient.size >= MAX_REQUESTS) {
      const error = { code: METHOD_NOT_FOUND, message: `The proxy does not pass on ${method}.` };
      return write(this.#server.input, { jsonrpc: '2.0', id, error });
    }
    const ours = `consigliere-${++this.#ids}`;
    this.#toClient.set(ours, id);
    await write(this.#output, { jsonrpc: '2.0', id: ours, method, ...(params && { params }) });
  }

  async #notifyClient(message: Message): Promise<void> {
    const { method, params } = message;
    if (method === CANCELLED) {
      const cancelled = params?.['requestId'];
      const [ours] = [...this.#toClient].find(([, theirs]) => theirs === cancelled) ?? [];
      if (ours !== undefined) this.#toClient.delete(ours);
      // A server may also end a subscription of the client's.
      const requestId = ours ?? this.#toServer.get(Number(cancelled))?.id;
      return requestId === undefined
        ? undefined
        : write(this.#output, { ...message, params: { ...params, requestId } });
    }
    const meta = params?.['_meta'];
    const listening = isObject(meta) ? this.#toServer.get(Number(meta[SUBSCRIPTION_ID])) : undefined;
    if (!listening) return write(this.#output, message);
    const named = { ...(meta as Json), [SUBSCRIPTION_ID]: listening.id };
    await write(this.#output, { ...message, params: { ...params, _meta: named } });
  }

  #respond(id: Message['id'] & (string | number | null), answer: Answer): Promise<void> {
    return write(this.#output, { jsonrpc: '2.0', id, ...answer });
  }

  #serverEnds(reason: string): void {
    this.#ended = reason;
    for (const { fail } of this.#toServer.values()) fail(reason);
  }

  async #answered(): Promise<void> {
    while (this.#requests.size > 0 && !this.#output.destroyed) await sleep(10);
  }
}

function refusal(code: number, message: string): Answer {
  return { error: { code, message } };
}

/** What the protocol itself puts beside a call. Anything else would reach the server past the decision. */
function knownMeta(meta: Json): Json {
  const known = new Set(['progressToken', 'traceparent', 'tracestate', 'baggage']);
  return Object.fromEntries(
    Object.entries(meta).filter(([key]) => known.has(key) || key.startsWith('io.modelcontextprotocol/')),
  );
}

/** A task of the server would go on behind the decision: the server is not told that the client knows them. */
function withoutTasks(params: Json): Json {
  const { capabilities, _meta: meta } = params;
  const named = isObject(meta) ? meta[CLIENT_CAPABILITIES] : undefined;
  return {
    ...params,
    ...(isObject(capabilities) && { capabilities: withoutTaskCapabilities(capabilities) }),
    ...(isObject(named) && {
      _meta: { ...(meta as Json), [CLIENT_CAPABILITIES]: withoutTaskCapabilities(named) },
    }),
  };
}

function withoutTaskCapabilities({ tasks: _tasks, extensions, ...rest }: Json): Json {
  if (!isObject(extensions)) return rest;
  const { [TASKS]: _extension, ...others } = extensions;
  return { ...rest, extensions: others };
}
