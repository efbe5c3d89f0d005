import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Unavailable } from '../../platform/kernel/errors.js';
import { MonitoredConnectors } from './monitored-connectors.repository.js';
import type { ProbeResult } from './connector-health.js';
import { ConnectorProbes, type Probe, type ProbedConnector } from './connector-probes.js';

/**
 * How long a small write takes: it waits for a connection, for locks, and for the disk of the database, as every act does.
 * While the database cannot be reached at all, no result can be stored either; /health/ready says so then.
 */
@Injectable()
export class ProbeDatabase implements Probe, OnModuleInit {
  constructor(
    private readonly monitored: MonitoredConnectors,
    private readonly probes: ConnectorProbes,
  ) {}

  onModuleInit(): void {
    this.probes.register('database', this);
  }

  async probe(connector: ProbedConnector): Promise<ProbeResult> {
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
}
