import { Module } from '@nestjs/common';
import { HealthController, Readiness } from './health.controller.js';
import { MetricsServer } from './metrics-server.js';
import { MetricsController } from './metrics.controller.js';
import { Figures } from './figures.js';
import { Metrics } from './metrics.js';

@Module({
  controllers: [HealthController, MetricsController],
  providers: [Readiness, Metrics, Figures, MetricsServer],
  exports: [Readiness, Metrics, Figures],
})
export class ObservabilityModule {}
