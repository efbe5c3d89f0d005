import { Module } from '@nestjs/common';
import { WorkspaceMetricsController } from './workspace-metrics.controller.js';
import { WorkspaceMetricsReader } from './workspace-metrics.reader.js';

/** @level 9 */
@Module({
  controllers: [WorkspaceMetricsController],
  providers: [WorkspaceMetricsReader],
})
export class MetricsModule {}
