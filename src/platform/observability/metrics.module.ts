import { Global, Module } from '@nestjs/common';
import { Figures } from './figures.js';
import { Metrics } from './metrics.js';

/** Where platform and features declare what Prometheus is told. */
@Global()
@Module({ providers: [Metrics, Figures], exports: [Metrics, Figures] })
export class MetricsModule {}
