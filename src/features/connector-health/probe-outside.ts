import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Failure } from '../../platform/outbound/exchange-failed.js';
import { GuardedRequest } from '../../platform/outbound/guarded-request.js';
import { CallOperation, Connectors, type LoadedConnector, type Operation } from '../connectors/index.js';
import { type DestinationHealth, DestinationHealthReader } from '../webhooks/index.js';
import type { ProbeResult } from './connector-health.js';
import { ANSWER_MS, ConnectorProbes, type ProbedConnector } from './connector-probes.js';

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
