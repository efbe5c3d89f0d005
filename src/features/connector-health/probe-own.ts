import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Unavailable } from '../../platform/kernel/errors.js';
import { Work } from '../../platform/work/work.js';
import { PartnerSecretService } from '../partner/index.js';
import type { ProbeResult } from './connector-health.js';
import { ConnectorProbes, type ProbedConnector } from './connector-probes.js';
import { MonitoredConnectors } from './monitored-connectors.repository.js';

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
