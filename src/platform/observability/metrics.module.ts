import { Global, Module } from '@nestjs/common';
import { Figures } from './figures.js';
import { Metrics } from './metrics.js';
import { Tracing } from './tracing.js';

/** Where platform and features declare what Prometheus is told, and what a trace is made of. */
@Global()
@Module({ providers: [Metrics, Figures, Tracing], exports: [Metrics, Figures, Tracing] })
export class MetricsModule {}
