import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { Unavailable } from '../../platform/kernel/errors.js';
import type { Failure } from '../../platform/outbound/exchange-failed.js';
import { GuardedRequest } from '../../platform/outbound/guarded-request.js';
import { Work } from '../../platform/work/work.js';
import { LOGIN_REFUSED, MailProbeFailed, Mailer } from '../mail/index.js';
import { baseUrlOf } from '../capos/index.js';
import { CallOperation, Connectors, type LoadedConnector, type Operation } from '../connectors/index.js';
import { type DestinationHealth, DestinationHealthReader } from '../webhooks/index.js';
import { PartnerSecretService } from '../partner/index.js';
import type { ConnectorKind, ConnectorEntity } from './connector.entity.js';
import type { ProbeResult } from './connector-health.js';
import { MonitoredConnectors } from './monitored-connectors.repository.js';

/** What a probe needs to know of the connector. */
type ProbedConnector = Pick<ConnectorEntity, 'workspaceId' | 'connectorId' | 'kind' | 'subject'>;

/**
 * Looks how a connector of one kind is, without changing anything on the other side. Answers undefined where this process does
 * not know the connector: another one, started with another configuration, may.
 */
interface Probe {
  probe(connector: ProbedConnector, signal: AbortSignal): Promise<ProbeResult | undefined>;
}

/** What a probe asks of others, in milliseconds. */
const ANSWER_MS = 10_000;
/** A probe that has not ended by then is left to itself. */
const LIMIT_MS = 12_000;

/** How each kind of connector is checked: every probe registers itself. None takes longer than its limit. */
@Injectable()
export class ConnectorProbes {
  readonly #probes = new Map<ConnectorKind, Probe>();

  register(kind: ConnectorKind, probe: Probe): void {
    this.#probes.set(kind, probe);
  }

  async probe(connector: ProbedConnector, signal: AbortSignal): Promise<ProbeResult | undefined> {
    const probe = this.#probes.get(connector.kind);
    if (!probe) throw new Error(`no probe checks connectors of the kind ${connector.kind}`);
    const limit = AbortSignal.timeout(LIMIT_MS);
    const found = probe.probe(connector, AbortSignal.any([signal, limit]));
    return Promise.race([found, tooLate(limit)]);
  }
}

function tooLate(limit: AbortSignal): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const end = () => resolve({ kind: 'failed', reason: 'The check did not end in time.' });
    limit.addEventListener('abort', end, { once: true });
  });
}

/**
 * Connects to the mail server and signs in, as far as a mail would go, and sends none. Mail that waits because the server did
 * not let us in goes on once it does.
 */
@Injectable()
export class ProbeMail implements Probe, OnModuleInit {
  constructor(
    private readonly config: Config,
    private readonly mailer: Mailer,
    private readonly probes: ConnectorProbes,
    private readonly monitored: MonitoredConnectors,
    private readonly work: Work,
  ) {}

  onModuleInit(): void {
    this.mailer.loginRefused = () => this.monitored.checkKindNow('mail');
    this.probes.register('mail', this);
  }

  async probe(_connector: unknown, signal: AbortSignal): Promise<ProbeResult> {
    const started = performance.now();
    try {
      await this.mailer.probe(signal);
    } catch (error) {
      if (!(error instanceof MailProbeFailed)) throw error;
      return { kind: error.isRefused ? 'refused' : 'failed', reason: error.message };
    }
    await this.work.resumeParked(LOGIN_REFUSED);
    const latencyMs = Math.round(performance.now() - started);
    const reason =
      this.config.mailTransport === 'file'
        ? 'Mail is written to files in DATA_DIR/outbox and reaches nobody.'
        : 'The mail server accepts mail.';
    return { kind: 'ok', latencyMs, reason };
  }
}

/** What a server answers that has no list of its models: it is there, and accepts our requests. */
const NO_LIST = [404, 405, 501];

/**
 * Asks the provider for the list of its models, with our key: that costs nothing, and no model is asked anything. A compatible
 * server that has no such list is only known to be there.
 */
@Injectable()
export class ProbeModel implements Probe, OnModuleInit {
  constructor(
    private readonly config: Config,
    private readonly probes: ConnectorProbes,
  ) {}

  onModuleInit(): void {
    this.probes.register('model', this);
  }

  async probe(_connector: unknown, signal: AbortSignal): Promise<ProbeResult> {
    const { modelProvider: provider, modelBaseUrl: baseUrl, modelApiKey: apiKey = '' } = this.config;
    if (provider === 'builtin') {
      const reason = 'Drafts are made by the built-in runner, which needs no service outside.';
      return { kind: 'ok', latencyMs: null, reason };
    }
    const started = performance.now();
    try {
      const answer = await fetch(`${baseUrlOf({ provider, baseUrl }).replace(/\/+$/, '')}/models`, {
        headers: { accept: 'application/json', ...credentials(provider, apiKey) },
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
      });
      await answer.body?.cancel();
      return judged(answer.status, Math.round(performance.now() - started));
    } catch (error) {
      const isLate = (error as Error).name === 'TimeoutError' || signal.aborted;
      // What fetch throws but for that is a TypeError with a cause from the network.
      if (!isLate && !(error instanceof TypeError && error.cause !== undefined)) throw error;
      const reason = isLate
        ? `The model provider did not answer within ${ANSWER_MS / 1_000} seconds.`
        : 'The model provider cannot be reached.';
      return { kind: 'failed', reason };
    }
  }
}

function credentials(provider: string, apiKey: string): Record<string, string> {
  if (provider === 'anthropic') return { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' };
  return apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` };
}

function judged(status: number, latencyMs: number): ProbeResult {
  if (status >= 200 && status < 300) return { kind: 'ok', latencyMs, reason: 'The model provider answers.' };
  if (status === 401 || status === 403) {
    return {
      kind: 'refused',
      latencyMs,
      reason: `The model provider refused MODEL_API_KEY (status ${status}).`,
    };
  }
  if (NO_LIST.includes(status)) {
    const reason = 'The model provider answers; it has no list of models, so no more is known.';
    return { kind: 'ok', latencyMs, reason };
  }
  return { kind: 'failed', latencyMs, reason: `The model provider answered with status ${status}.` };
}

/** Why no connection or no answer came, for a stranger. */
const OUTSIDE_FAILURES: Readonly<Record<Failure, string>> = {
  destination: 'Its address is not allowed any more.',
  address: 'Its name does not resolve, or not only to public addresses.',
  connect_timeout: 'It did not accept the connection in time.',
  connection_refused: 'It refused the connection.',
  unreachable: 'It cannot be reached over the network.',
  tls: 'Its certificate is not trusted for its name.',
  reset: 'It ended the connection before it answered.',
  headers_too_large: 'The headers of its answer are too large.',
  invalid_answer: 'The answer is not HTTP.',
  timeout: 'It did not answer in time.',
  aborted: 'The check was stopped before it answered.',
  connection_failed: 'The connection to it failed.',
};

/** What is called outside: receivers of events, and the services of the connectors file. */
@Injectable()
export class ProbeOutside implements OnModuleInit {
  constructor(
    private readonly destinations: DestinationHealthReader,
    private readonly connectors: Connectors,
    private readonly calls: CallOperation,
    private readonly requests: GuardedRequest,
    private readonly probes: ConnectorProbes,
  ) {}

  onModuleInit(): void {
    this.probes.register('webhook', { probe: (connector, signal) => this.destination(connector, signal) });
    this.probes.register('http', { probe: (connector, signal) => this.operations(connector, signal) });
  }

  /**
   * Opens a connection to the receiver and sends nothing, since whatever is sent to a webhook may set something off there. What
   * it answers is known from the events that were sent to it.
   */
  private async destination(
    { workspaceId, subject }: ProbedConnector,
    signal: AbortSignal,
  ): Promise<ProbeResult | undefined> {
    const health = await this.destinations.read({ workspaceId, teamIds: 'all' }, subject);
    if (!health) return undefined;
    const ended = endedBy(health);
    if (ended) return { kind: 'refused', reason: ended, tellsItself: true };
    const reached = await this.requests.reach({ url: health.url, timeoutMs: ANSWER_MS, signal });
    const latencyMs = reached.durationMs;
    if (reached.kind === 'failed')
      return { kind: 'failed', latencyMs, reason: OUTSIDE_FAILURES[reached.error] };
    const failed = whyFailed(health);
    if (failed) return { kind: 'failed', latencyMs, ...failed };
    return { kind: 'ok', latencyMs, reason: 'It accepts connections, and no event is held up.' };
  }

  /** A service of the connectors file: calls the operation that its `check` names, or only opens a connection. */
  private async operations(
    { connectorId, subject }: ProbedConnector,
    signal: AbortSignal,
  ): Promise<ProbeResult | undefined> {
    const connector = this.connectors.all.find(({ name }) => name === subject);
    if (!connector) return undefined;
    return connector.check
      ? this.call(connector, connector.check, connectorId, signal)
      : this.reach(connector, signal);
  }

  private async reach({ baseUrl }: LoadedConnector, signal: AbortSignal): Promise<ProbeResult> {
    const reached = await this.requests.reach({ url: baseUrl, timeoutMs: ANSWER_MS, signal });
    const latencyMs = reached.durationMs;
    return reached.kind === 'failed'
      ? { kind: 'failed', latencyMs, reason: OUTSIDE_FAILURES[reached.error] }
      : { kind: 'ok', latencyMs, reason: 'It accepts connections; no operation is called to check it.' };
  }

  private async call(
    connector: LoadedConnector,
    check: Operation,
    key: string,
    signal: AbortSignal,
  ): Promise<ProbeResult> {
    const operation = { ...check, timeoutMs: Math.min(check.timeoutMs, ANSWER_MS) };
    const answer = await this.calls.execute({ connector, operation, arguments: {}, key, signal });
    const latencyMs = answer.durationMs;
    if (answer.kind === 'failed')
      return { kind: 'failed', latencyMs, reason: OUTSIDE_FAILURES[answer.error] };
    const { status } = answer;
    if (status >= 200 && status < 300)
      return { kind: 'ok', latencyMs, reason: `It answers ${check.operation}.` };
    if (status === 401 || status === 403) {
      return { kind: 'refused', latencyMs, reason: `It refused our credentials (status ${status}).` };
    }
    return { kind: 'failed', latencyMs, reason: `It answered ${check.operation} with status ${status}.` };
  }
}

/** What deliveries have found out for good; a signal told it then, and an escalation where a person can decide. */
function endedBy({ status, fault }: DestinationHealth): string | undefined {
  if (status === 'gone') return 'It answered 410 (Gone), so no more events are sent to it.';
  if (status === 'paused') return 'It is paused, because twenty deliveries in a row failed.';
  if (fault === 'secret') return 'The secret that signs its events cannot be opened: rotate it.';
  return fault === 'unexpected'
    ? 'An event could not be sent to it, for a reason within this service.'
    : undefined;
}

/** What the last attempt to send something has shown; the same one until something is sent again. */
function whyFailed({ failed }: DestinationHealth): { reason: string; attemptedAt: number } | undefined {
  if (!failed) return undefined;
  const { status, error, at: attemptedAt } = failed;
  if (status !== null)
    return { reason: `It answered ${status} to the last event that was sent to it.`, attemptedAt };
  const why = Object.hasOwn(OUTSIDE_FAILURES, error ?? '')
    ? ` ${OUTSIDE_FAILURES[error as keyof typeof OUTSIDE_FAILURES]}`
    : '';
  return { reason: `The last event that was sent to it did not arrive.${why}`, attemptedAt };
}

/** Longer than a process that has died keeps what it had claimed. */
const STUCK_MS = 60_000;

/** What this service has itself: its database, its work, the secret of its partner. */
@Injectable()
export class ProbeOwn implements OnModuleInit {
  constructor(
    private readonly monitored: MonitoredConnectors,
    private readonly work: Work,
    private readonly partnerSecret: PartnerSecretService,
    private readonly probes: ConnectorProbes,
  ) {}

  onModuleInit(): void {
    this.probes.register('database', { probe: (connector) => this.database(connector) });
    this.probes.register('queue', { probe: () => this.queue() });
    this.probes.register('partner', { probe: (connector) => this.partner(connector) });
  }

  /**
   * How long a small write takes: it waits for a connection, for locks, and for the disk of the database, as every act does.
   * While the database cannot be reached at all, no result can be stored either; /health/ready says so then.
   */
  private async database(connector: ProbedConnector): Promise<ProbeResult> {
    const started = performance.now();
    try {
      await this.monitored.rewrite(connector);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      return { kind: 'failed', reason: 'The database did not carry out a small write in time.' };
    }
    const latencyMs = Math.round(performance.now() - started);
    return { kind: 'ok', latencyMs, reason: 'The database reads and writes.' };
  }

  /** For how long work has been due that nobody has begun. That this runs at all says that some worker does its work. */
  private async queue(): Promise<ProbeResult> {
    const longest = await this.monitored.longestWaiting([...this.work.kinds.keys()]);
    const latencyMs = Math.max(0, Math.round(longest?.waitingMs ?? 0));
    if (latencyMs < STUCK_MS) return { kind: 'ok', latencyMs, reason: 'Work that falls due is carried out.' };
    const seconds = Math.round(latencyMs / 1_000);
    return {
      kind: 'failed',
      latencyMs,
      reason: `Work of the kind ${longest!.kind} has been due for ${seconds} seconds, and no worker has begun it.`,
    };
  }

  /** The partner calls us and is never called: what can fail here is the secret that its requests are signed with. */
  private async partner({ workspaceId }: ProbedConnector): Promise<ProbeResult | undefined> {
    const isReadable = await this.partnerSecret.isReadable({ workspaceId, teamIds: 'all' });
    if (isReadable === undefined) return undefined;
    if (isReadable) {
      return { kind: 'ok', latencyMs: null, reason: 'Requests of the partner can be verified.' };
    }
    const reason =
      'The secret of the partner cannot be opened with the SECRETS_KEY of this service, so its requests are refused: rotate it.';
    return { kind: 'refused', reason };
  }
}
