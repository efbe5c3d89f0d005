import { Module } from '@nestjs/common';
import { HealthController, Readiness } from './health.controller.js';
import { Metrics, MetricsController } from './metrics.controller.js';

@Module({
  controllers: [HealthController, MetricsController],
  providers: [Readiness, Metrics],
  exports: [Readiness, Metrics],
})
export class ObservabilityModule {}
