import { Module } from '@nestjs/common';
import { HealthController, Readiness } from './health.controller.js';
import { MetricsServer, MetricsController } from './metrics.controller.js';
import { MetricsModule } from './metrics.module.js';

@Module({
  imports: [MetricsModule],
  controllers: [HealthController, MetricsController],
  providers: [Readiness, MetricsServer],
  exports: [Readiness],
})
export class ObservabilityModule {}
