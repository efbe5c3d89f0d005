import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import { nameInASentence } from '../webhooks/index.js';
import { CHECK, CONNECTOR_RED, DISMISS, EscalationOptions, Escalations } from '../escalations/index.js';
import { type SignalSeverity, Signals } from '../records/index.js';
import type { ConnectorEntity } from './connector.entity.js';
import { MonitoredConnectors } from './monitored-connectors.repository.js';
import type { HealthChange } from './connector-health.js';

/** As part of a sentence that every member may read. */
function inASentence({ kind, name }: Pick<ConnectorEntity, 'kind' | 'name'>): string {
  switch (kind) {
    case 'webhook':
      return nameInASentence(name);
    case 'http':
      return `the connector ${name}`;
    case 'partner':
      return 'the connection to the partner';
    case 'database':
      return 'the database';
    case 'queue':
      return 'the work queue';
    case 'mail':
      return 'the mail connector';
    case 'model':
      return 'the model connector';
  }
}

/** {@link inASentence}, as its first words. */
export function atTheBeginning(connector: Pick<ConnectorEntity, 'kind' | 'name'>): string {
  return inASentence(connector).replace(/^t/, 'T');
}

type Named = Pick<ConnectorEntity, 'connectorId' | 'kind' | 'name'>;

/** Tells people that a connector is red, and that it has recovered; in the workspace that answers for it. */
@Injectable()
export class ConnectorAlerts implements OnModuleInit {
  constructor(
    private readonly monitored: MonitoredConnectors,
    private readonly signals: Signals,
    private readonly escalations: Escalations,
    private readonly options: EscalationOptions,
  ) {}

  onModuleInit(): void {
    this.options.register(CONNECTOR_RED, 'connector', {
      lock: ({ entityId }) => this.monitored.lock(entityId),
      options: {
        [CHECK]: {
          role: 'operator',
          effect: 'Has the connector checked again at once.',
          run: async ({ entityId }, { caller }) => {
            const connector = await this.monitored.lock(entityId);
            if (!connector) {
              throw new InvalidTransition({
                message: 'The connector is configured no longer; dismiss this.',
              });
            }
            this.monitored.checkNow(entityId);
            return `${caller.name} asked for another check of ${inASentence(connector)}.`;
          },
        },
      },
    });
  }

  /** What has to be told of a change of a locked connector, in the open transaction. */
  async tell(connector: Named, { changes: { reason }, tell }: HealthChange): Promise<void> {
    if (tell.signal) this.signal(connector, 'critical', `${atTheBeginning(connector)} is failing.`, reason);
    if (tell.escalate) {
      await this.escalations.open({
        kind: CONNECTOR_RED,
        entity: entityOf(connector),
        teamId: null,
        reason: `${atTheBeginning(connector)} is failing. ${reason}`,
        options: [CHECK, DISMISS],
        dueAt: null,
      });
    }
    if (tell.recovered) {
      const title = `${atTheBeginning(connector)} is working again.`;
      this.signal(connector, 'info', title, reason);
      await this.escalations.resolveAbout(CONNECTOR_RED, entityOf(connector), title);
    }
  }

  /** The cause of an open escalation is gone, if one is open. */
  ended(connector: Named, because: string): Promise<void> {
    return this.escalations.resolveAbout(CONNECTOR_RED, entityOf(connector), because);
  }

  private signal(connector: Named, severity: SignalSeverity, title: string, body: string): void {
    this.signals.raise({
      type: 'connector',
      severity,
      title,
      body,
      teamId: null,
      entity: entityOf(connector),
    });
  }
}

function entityOf({ connectorId }: Named) {
  return { type: 'connector', id: connectorId };
}
