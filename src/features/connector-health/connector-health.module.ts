import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Figures } from '../../platform/observability/figures.js';
import { ConnectorsModule } from '../connectors/index.js';
import { EscalationsModule } from '../escalations/index.js';
import { KpiModule, KpiService } from '../kpi/index.js';
import { MailModule } from '../mail/index.js';
import { PartnerModule } from '../partner/index.js';
import { RecordsModule } from '../records/index.js';
import { WebhooksModule } from '../webhooks/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { CheckConnector } from './check-connector.js';
import { ReconcileConnectors } from './reconcile-connectors.js';
import { ConnectorHealthController } from './connector-health.controller.js';
import { MonitoredConnectors, redStatement } from './monitored-connectors.repository.js';
import { ConnectorAlerts } from './connector-alerts.js';
import { ConnectorProbes, ProbeMail, ProbeModel, ProbeOutside, ProbeOwn } from './connector-probes.js';
import { ConnectorCheckEntity, ConnectorEntity } from './connector.entity.js';
import { VisibleConnectors } from './visible-connectors.reader.js';

/** @level 9 */
@Module({
  imports: [
    TypeOrmModule.forFeature([ConnectorEntity, ConnectorCheckEntity]),
    ConnectorsModule,
    EscalationsModule,
    KpiModule,
    MailModule,
    PartnerModule,
    RecordsModule,
    WebhooksModule,
    // Its first run makes the workspace that answers for what the whole service has.
    WorkspacesModule,
  ],
  controllers: [ConnectorHealthController],
  providers: [
    MonitoredConnectors,
    ConnectorAlerts,
    ConnectorProbes,
    ProbeMail,
    ProbeModel,
    ProbeOutside,
    ProbeOwn,
    CheckConnector,
    ReconcileConnectors,
    VisibleConnectors,
  ],
})
export class ConnectorHealthModule {
  constructor(kpi: KpiService, visible: VisibleConnectors, figures: Figures) {
    kpi.register('connectorHealth', (question) => visible.figures(question));
    figures.declare({
      name: 'consigliere_connectors_red',
      help: 'Connectors whose checks fail, by what they are',
      label: 'kind',
      statement: redStatement,
    });
  }
}
