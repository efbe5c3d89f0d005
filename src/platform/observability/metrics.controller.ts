import { Controller, Get, Header } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Config } from '../config/config.js';
import { Route } from '../http/route.js';
import { NotFound } from '../kernel/errors.js';
import { SCRAPES } from '../rate-limit/limits.js';
import { METRICS_TYPE } from './metrics-server.js';
import { Figures } from './figures.js';

const METRICS_EXAMPLE = `# HELP http_request_duration_seconds Duration of HTTP requests
# TYPE http_request_duration_seconds histogram
http_request_duration_seconds_count{method="GET",route="/api/pro/context",status="200"} 42
`;

@ApiTags('prometheus')
@Controller()
export class MetricsController {
  constructor(
    private readonly config: Config,
    private readonly figures: Figures,
  ) {}

  /** Figures for Prometheus, unless they have a port of their own (`METRICS_PORT`). */
  @Get('metrics')
  @Header('Content-Type', METRICS_TYPE)
  @Route({
    auth: 'public',
    limit: SCRAPES,
    returns: { 200: { 'text/plain': METRICS_EXAMPLE } },
    errors: [NotFound],
  })
  scrape(): Promise<string> {
    if (this.config.metricsPort !== undefined) throw new NotFound();
    return this.figures.scrape();
  }
}
