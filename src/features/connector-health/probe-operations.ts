import { Injectable, type OnModuleInit } from '@nestjs/common';
import { GuardedRequest } from '../../platform/outbound/guarded-request.js';
import { CallOperation, Connectors, type LoadedConnector, type Operation } from '../connectors/index.js';
import type { ProbeResult } from './connector-health.js';
import { ANSWER_MS, ConnectorProbes, type Probe, type ProbedConnector } from './connector-probes.js';
import { OUTSIDE_FAILURES } from './outside-failures.js';

/** A service of the connectors file: calls the operation that its `check` names, or only opens a connection. */
@Injectable()
export class ProbeOperations implements Probe, OnModuleInit {
  constructor(
    private readonly connectors: Connectors,
    private readonly calls: CallOperation,
    private readonly requests: GuardedRequest,
    private readonly probes: ConnectorProbes,
  ) {}

  onModuleInit(): void {
    this.probes.register('http', this);
  }

  async probe(
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
