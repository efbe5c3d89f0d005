import { Injectable, type OnModuleInit } from '@nestjs/common';
import { GuardedRequest } from '../../platform/outbound/guarded-request.js';
import { type DestinationHealth, DestinationHealthReader } from '../webhooks/index.js';
import type { ProbeResult } from './connector-health.js';
import { ANSWER_MS, ConnectorProbes, type Probe, type ProbedConnector } from './connector-probes.js';
import { OUTSIDE_FAILURES } from './outside-failures.js';

/**
 * Opens a connection to the receiver and sends nothing, since whatever is sent to a webhook may set something off there. What
 * it answers is known from the events that were sent to it.
 */
@Injectable()
export class ProbeDestination implements Probe, OnModuleInit {
  constructor(
    private readonly destinations: DestinationHealthReader,
    private readonly requests: GuardedRequest,
    private readonly probes: ConnectorProbes,
  ) {}

  onModuleInit(): void {
    this.probes.register('webhook', this);
  }

  async probe(
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
