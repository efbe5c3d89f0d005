import { type DynamicModule, Module } from '@nestjs/common';
import type { DestinationStream } from 'pino';
import { AccountsModule } from './features/accounts/accounts.module.js';
import { AuditModule } from './features/audit/audit.module.js';
import { EvalsModule } from './features/evals/evals.module.js';
import { DashboardModule } from './features/dashboard/dashboard.module.js';
import { EscalationsModule } from './features/escalations/escalations.module.js';
import { GuardianModule } from './features/guardian/guardian.module.js';
import { NotificationsModule } from './features/notifications/notifications.module.js';
import { OidcModule } from './features/oidc/oidc.module.js';
import { PacksModule } from './features/packs/packs.module.js';
import { PreflightModule } from './features/preflight/preflight.module.js';
import { PartnerModule } from './features/partner/partner.module.js';
import { WebhooksModule } from './features/webhooks/webhooks.module.js';
import { ChatModule } from './features/chat/chat.module.js';
import { SubscriptionModule } from './features/subscription/subscription.module.js';
import { TenancyModule } from './features/tenancy/tenancy.module.js';
import { SchedulesModule } from './features/schedules/schedules.module.js';
import { SetupModule } from './features/setup/setup.module.js';
import { RecordsModule } from './features/records/records.module.js';
import { SuggestionsModule } from './features/suggestions/suggestions.module.js';
import { TeamsModule } from './features/teams/teams.module.js';
import { ToolsModule } from './features/tools/tools.module.js';
import { WorkspacesModule } from './features/workspaces/workspaces.module.js';
import { ApprovalsModule } from './features/approvals/approvals.module.js';
import { ConnectorHealthModule } from './features/connector-health/connector-health.module.js';
import { ContextModule } from './features/context/context.module.js';
import { DirectivesModule } from './features/directives/directives.module.js';
import { ConsigliereModule } from './features/consigliere/consigliere.module.js';
import { ActionRequestsModule } from './features/action-requests/action-requests.module.js';
import { AgentsModule } from './features/agents/agents.module.js';
import { KpiModule } from './features/kpi/kpi.module.js';
import { McpModule } from './features/mcp/mcp.module.js';
import { ReportsModule } from './features/reports/reports.module.js';
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
