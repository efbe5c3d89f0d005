import { Module } from '@nestjs/common';
import { WorkspacesModule } from '../workspaces/index.js';
import { KpiController, WorkspaceMetricsController } from './kpi.controller.js';
import { KpiFiguresReader, WorkspaceMetricsReader } from './kpi-figures.reader.js';
import { KpiService } from './kpi.service.js';

/** @level 8 */
@Module({
  imports: [WorkspacesModule],
  controllers: [KpiController, WorkspaceMetricsController],
  providers: [KpiService, KpiFiguresReader, WorkspaceMetricsReader],
  exports: [KpiService],
})
export class KpiModule {}
