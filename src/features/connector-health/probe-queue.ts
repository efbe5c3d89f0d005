import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Work } from '../../platform/work/work.js';
import { MonitoredConnectors } from './monitored-connectors.repository.js';
import type { ProbeResult } from './connector-health.js';
import { ConnectorProbes, type Probe } from './connector-probes.js';

/** Longer than a process that has died keeps what it had claimed. */
const STUCK_MS = 60_000;

/** For how long work has been due that nobody has begun. That this runs at all says that some worker does its work. */
@Injectable()
export class ProbeQueue implements Probe, OnModuleInit {
  constructor(
    private readonly monitored: MonitoredConnectors,
    private readonly work: Work,
    private readonly probes: ConnectorProbes,
  ) {}

  onModuleInit(): void {
    this.probes.register('queue', this);
  }

  async probe(): Promise<ProbeResult> {
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
}
