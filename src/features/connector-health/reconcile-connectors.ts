import { Injectable, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { Db } from '../../platform/database/db.js';
import { Connectors, type LoadedConnector } from '../connectors/index.js';
import { PartnerSecretService } from '../partner/index.js';
import { DestinationChanges, destinationName } from '../webhooks/index.js';
import { ConnectorAlerts, atTheBeginning } from './connector-alerts.js';
import type { ConnectorKind, ConnectorEntity } from './connector.entity.js';
import { type ConfiguredConnector, MonitoredConnectors } from './monitored-connectors.repository.js';

const EVERY_WORKSPACE = ['*'];

/** What every service has. */
const OF_SERVICE: readonly ConfiguredConnector[] = [
  { kind: 'database', subject: '', name: 'Database', audience: EVERY_WORKSPACE },
  { kind: 'queue', subject: '', name: 'Work queue', audience: EVERY_WORKSPACE },
  { kind: 'mail', subject: '', name: 'Mail', audience: EVERY_WORKSPACE },
  { kind: 'model', subject: '', name: 'Model', audience: EVERY_WORKSPACE },
];

/**
 * Keeps the connectors equal to what is configured. What the whole service has is checked once, in the workspace that answers
 * for it, and shown to the others: the first workspace, or for a connector of the file that is not for it, the first of those
 * that it is for.
 */
@Injectable()
export class ReconcileConnectors implements OnModuleInit, OnApplicationBootstrap {
  constructor(
    private readonly config: Config,
    private readonly db: Db,
    private readonly connectors: Connectors,
    private readonly monitored: MonitoredConnectors,
    private readonly alerts: ConnectorAlerts,
    private readonly destinations: DestinationChanges,
    private readonly partner: PartnerSecretService,
  ) {}

  onModuleInit(): void {
    this.destinations.register(async (change, destination) => {
      const { destinationId } = destination;
      if (change === 'deleted') return this.forgetDestination(destinationId);
      this.monitored.configure({
        kind: 'webhook',
        subject: destinationId,
        name: destinationName(destination),
        audience: [],
      });
    });
    this.partner.register(() =>
      this.monitored.configure({ kind: 'partner', subject: '', name: 'Partner', audience: [] }),
    );
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.config.processRole !== 'api') await this.execute();
  }

  /** Of several processes with different configurations the one that started last has its way. */
  async execute(): Promise<void> {
    const first = await this.monitored.firstWorkspace();
    const wanted = new Map<string, ConfiguredConnector[]>([[first, [...OF_SERVICE]]]);
    for (const workspaceId of await this.monitored.withHttp())
      wanted.set(workspaceId, wanted.get(workspaceId) ?? []);
    for (const connector of this.connectors.all) {
      const [owner, ...others] = await this.usersOf(connector, first);
      if (owner === undefined) continue;
      const { name } = connector;
      const audience = connector.workspaces === 'all' ? EVERY_WORKSPACE : others;
      wanted.set(owner, [...(wanted.get(owner) ?? []), { kind: 'http', subject: name, name, audience }]);
    }
    for (const [workspaceId, configured] of wanted) await this.configure(workspaceId, configured, first);
    await this.monitored.discover();
  }

  /** The workspaces that may use it; the owning one comes first. */
  private async usersOf({ workspaces }: LoadedConnector, first: string): Promise<string[]> {
    if (workspaces === 'all' || workspaces === 'first') return [first];
    const users = await this.monitored.existing(workspaces);
    return users.includes(first) ? [first, ...users.filter((user) => user !== first)] : users;
  }

  private async configure(
    workspaceId: string,
    configured: readonly ConfiguredConnector[],
    first: string,
  ): Promise<void> {
    const kinds: ConnectorKind[] =
      workspaceId === first ? ['database', 'queue', 'mail', 'model', 'http'] : ['http'];
    await this.db.transaction({ workspaceId, teamIds: 'all' }, async () => {
      for (const former of await this.monitored.lockOthers(kinds, configured)) {
        await this.forget(former, `${atTheBeginning(former)} is configured no longer.`);
      }
      for (const connector of configured) this.monitored.configure(connector);
    });
  }

  private async forgetDestination(destinationId: string): Promise<void> {
    const former = await this.monitored.lockOf('webhook', destinationId);
    if (former) await this.forget(former, `${atTheBeginning(former)} was deleted.`);
  }

  private async forget(former: ConnectorEntity, because: string): Promise<void> {
    await this.alerts.ended(former, because);
    this.monitored.remove(former.connectorId);
  }
}
