import { Controller, Get, Header, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { Route } from '../http/route.js';
import { PROBES } from '../rate-limit/limits.js';

const METRICS_EXAMPLE = `# HELP http_request_duration_seconds Duration of HTTP requests
# TYPE http_request_duration_seconds histogram
http_request_duration_seconds_count{method="GET",route="/api/pro/context",status="200"} 42
`;

/** What Prometheus reads: the process's own figures and one histogram of requests by route and status. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();
  readonly #requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Duration of HTTP requests',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  /** Express middleware: observes each request when its answer has left. */
  readonly observe = (request: Request, response: Response, next: () => void): void => {
    const started = process.hrtime.bigint();
    response.once('finish', () => {
      // The route's pattern, never the path: ids in a label would make a series of each.
      const route = (request.route as { path?: string } | undefined)?.path ?? 'none';
      const seconds = Number(process.hrtime.bigint() - started) / 1e9;
      this.#requests.observe({ method: request.method, route, status: response.statusCode }, seconds);
    });
    next();
  };
}

@Controller()
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  /** Figures for Prometheus. */
  @Get('metrics')
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  @Route({ auth: 'public', limit: PROBES, returns: { 200: { 'text/plain': METRICS_EXAMPLE } } })
  read(): Promise<string> {
    return this.metrics.registry.metrics();
  }
}
