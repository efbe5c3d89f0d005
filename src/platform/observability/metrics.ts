import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';

/**
 * What this process counts for Prometheus: its own figures, requests by route and status, and what features count by
 * outcome. No label holds an id: a series for each workspace would be the end of Prometheus.
 */
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

  /** Declares something that this process counts by outcome; answers how to count one. Each outcome is shown from 0 on. */
  outcomes<const Outcome extends string>(
    name: string,
    help: string,
    outcomes: readonly Outcome[],
  ): (outcome: Outcome) => void {
    const counter = new Counter({ name, help, labelNames: ['outcome'], registers: [this.registry] });
    for (const outcome of outcomes) counter.inc({ outcome }, 0);
    return (outcome) => counter.inc({ outcome });
  }

  /** Declares an amount that this process adds up; answers how to add to it. */
  sum(name: string, help: string): (amount: number) => void {
    const counter = new Counter({ name, help, registers: [this.registry] });
    return (amount) => counter.inc(amount);
  }
}
