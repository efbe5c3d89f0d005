import { Injectable } from '@nestjs/common';
import type { ConnectorKind } from './connector-kinds.js';
import type { ProbeResult } from './connector-health.js';
import type { ConnectorEntity } from './connector.entity.js';

/** What a probe needs to know of the connector. */
export type ProbedConnector = Pick<ConnectorEntity, 'workspaceId' | 'connectorId' | 'kind' | 'subject'>;

/**
 * Looks how a connector of one kind is, without changing anything on the other side. Answers undefined where this process does
 * not know the connector: another one, started with another configuration, may.
 */
export interface Probe {
  probe(connector: ProbedConnector, signal: AbortSignal): Promise<ProbeResult | undefined>;
}

/** What a probe asks of others, in milliseconds. */
export const ANSWER_MS = 10_000;
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
