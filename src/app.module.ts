import { type DynamicModule, Module } from '@nestjs/common';
import type { DestinationStream } from 'pino';
import { AccountsModule } from './features/accounts/index.js';
import { AuditModule } from './features/audit/index.js';
import { EvalsModule } from './features/evals/index.js';
import { DashboardModule } from './features/dashboard/index.js';
import { EscalationsModule } from './features/escalations/index.js';
import { GuardianModule } from './features/guardian/index.js';
import { NotificationsModule } from './features/notifications/index.js';
import { OidcModule } from './features/oidc/index.js';
import { PacksModule } from './features/packs/index.js';
import { PreflightModule } from './features/preflight/index.js';
import { PartnerModule } from './features/partner/index.js';
import { WebhooksModule } from './features/webhooks/index.js';
import { ChatModule } from './features/chat/index.js';
import { SubscriptionModule } from './features/subscription/index.js';
import { TenancyModule } from './features/tenancy/index.js';
import { SchedulesModule } from './features/schedules/index.js';
import { SetupModule } from './features/setup/index.js';
import { RecordsModule } from './features/records/index.js';
import { SuggestionsModule } from './features/suggestions/index.js';
import { TeamsModule } from './features/teams/index.js';
import { ToolsModule } from './features/tools/index.js';
import { WorkspacesModule } from './features/workspaces/index.js';
import { ApprovalsModule } from './features/approvals/index.js';
import { ConnectorHealthModule } from './features/connector-health/index.js';
import { ContextModule } from './features/context/index.js';
import { DirectivesModule } from './features/directives/index.js';
import { ConsigliereModule } from './features/consigliere/index.js';
import { ActionRequestsModule } from './features/action-requests/index.js';
import { AgentsModule } from './features/agents/index.js';
import { KpiModule } from './features/kpi/index.js';
import { McpModule } from './features/mcp/index.js';
import { ReportsModule } from './features/reports/index.js';
import { Config } from './platform/config/config.js';
import type { DatabaseAddress } from './platform/database/database-address.js';
import { PlatformModule } from './platform/platform.module.js';

/** The table of contents of the product. */
@Module({})
export class AppModule {
  static forRoot(config: Config, address: DatabaseAddress, logs?: DestinationStream): DynamicModule {
    return {
      module: AppModule,
      imports: [
        PlatformModule.forRoot(config, address, logs),
        // Before any module that imports standing orders: `/standing-orders/suggestions` is no id of an order.
        SuggestionsModule,
        DashboardModule,
        WorkspacesModule,
        TeamsModule,
        AccountsModule,
        OidcModule,
        SubscriptionModule,
        AuditModule,
        GuardianModule,
        RecordsModule,
        ToolsModule,
        EscalationsModule,
        PartnerModule,
        WebhooksModule,
        ApprovalsModule,
        NotificationsModule,
        ContextModule,
        DirectivesModule,
        SchedulesModule,
        ConsigliereModule,
        EvalsModule,
        SetupModule,
        PreflightModule,
        PacksModule,
        ActionRequestsModule,
        AgentsModule,
        KpiModule,
        ConnectorHealthModule,
        ReportsModule,
        ChatModule,
        McpModule,
        TenancyModule,
      ],
    };
  }
}
