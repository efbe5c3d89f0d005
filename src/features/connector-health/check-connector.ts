import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import { ConnectorAlerts } from './connector-alerts.js';
import { ConnectorProbes } from './connector-probes.js';
import { type ProbeResult, assessHealth } from './connector-health.js';
import { MonitoredConnectors } from './monitored-connectors.repository.js';

/** What a workspace has configured. */
const OF_WORKSPACE = 'connector.check';
/** What the whole service has; no check of it waits for one of a workspace. */
const OF_SERVICE = 'service.check';

/** More than there are operations of the whole service to check, so that none of them waits for another. */
const POOL_OF_SERVICE = 64;
const POOL_OF_WORKSPACES = 20;
const PER_WORKSPACE = 5;
const TRIES = 3;

/**
 * Checks a connector: by work that is claimed once however many processes there are, with no transaction open while it
 * lasts. However it ends, even with the end of its process, a result is stored.
 */
@Injectable()
export class CheckConnector implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly monitored: MonitoredConnectors,
    private readonly probes: ConnectorProbes,
    private readonly alerts: ConnectorAlerts,
  ) {}

  onModuleInit(): void {
    const done = {
      tries: TRIES,
      run: (item: WorkItem, signal: AbortSignal) => this.run(item, signal),
      giveUp: (item: WorkItem) => this.giveUp(item),
    };
    this.work.declare({
      ...done,
      name: OF_WORKSPACE,
      pool: POOL_OF_WORKSPACES,
      perQueue: PER_WORKSPACE,
      // Enqueues both kinds.
      enqueueDue: 'app.enqueue_due_checks',
    });
    this.work.declare({ ...done, name: OF_SERVICE, pool: POOL_OF_SERVICE, perQueue: 1 });
  }

  private async run(item: WorkItem, signal: AbortSignal): Promise<void> {
    const connector = await this.monitored.due(scopeOfWork(item), item.id);
    if (!connector) return;
    const result = await this.probes.probe(connector, signal);
    // Cancelled by the end of the lease, not by the other side: the next claim finds out.
    if (signal.aborted) return;
    await this.db.transaction(scopeOfWork(item), async () => {
      if (result) await this.record(item, result);
      else this.monitored.postpone(item.id);
      this.work.complete(item);
    });
  }

  private giveUp(item: WorkItem): Promise<void> {
    const reason =
      'The check itself failed three times, for a reason that only the log of the service tells.';
    return this.record(item, { kind: 'failed', reason });
  }

  /** In the open transaction; what is configured no longer is left alone. */
  private async record({ id }: WorkItem, result: ProbeResult): Promise<void> {
    const connector = await this.monitored.lock(id);
    if (!connector || connector.nextCheckAt > connector.now) return;
    const change = assessHealth(connector, result, connector.now);
    this.monitored.record(connector, change);
    await this.alerts.tell(connector, change);
  }
}
