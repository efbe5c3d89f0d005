import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  Controller,
  Get,
  Header,
} from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { ApiTags } from '@nestjs/swagger';
import { Config } from '../config/config.js';
import { Route } from '../http/route.js';
import { NotFound } from '../kernel/errors.js';
import { StartRefused } from '../kernel/start-refused.js';
import { Figures } from './figures.js';
import { SCRAPES } from '../rate-limit/limits.js';

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** A scrape sends a line and some headers. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Answers `/metrics` on METRICS_PORT, and nothing else: clients of the service need not reach its figures. It
 * listens at HOST, so at this machine alone unless the service itself listens further.
 */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  #server: Server | undefined;

  constructor(
    private readonly config: Config,
    private readonly figures: Figures,
    private readonly logger: PinoLogger,
  ) {}

  /** @throws StartRefused */
  async onApplicationBootstrap(): Promise<void> {
    const { metricsPort, host } = this.config;
    if (metricsPort === undefined) return;
    const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
      void this.answer(request, response);
    });
    server.listen(metricsPort, host);
    try {
      await once(server, 'listening');
    } catch (error) {
      throw refused(metricsPort, host, error as NodeJS.ErrnoException);
    }
    this.#server = server;
    this.logger.info({ port: this.port }, 'figures for Prometheus have a port of their own');
  }

  /** The port that it listens on; undefined without METRICS_PORT. */
  get port(): number | undefined {
    return (this.#server?.address() as AddressInfo | undefined)?.port;
  }

  /** Last of all: how a process ends is worth a look. */
  onApplicationShutdown(): void {
    this.#server?.close();
    this.#server?.closeAllConnections();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isScrape = /^\/metrics(\?|$)/.test(request.url ?? '');
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isScrape || !isRead) {
      response.writeHead(isScrape ? 405 : 404, isScrape ? { Allow: 'GET, HEAD' } : {}).end();
      return;
    }
    try {
      const text = await this.figures.scrape();
      response.writeHead(200, { 'Content-Type': METRICS_TYPE, 'Cache-Control': 'no-store' }).end(text);
    } catch (error) {
      this.logger.error({ err: error }, 'the figures for Prometheus could not be written');
      response.writeHead(500).end();
    }
  }
}

function refused(port: number, host: string, { code, message }: NodeJS.ErrnoException): StartRefused {
  if (code === 'EADDRINUSE') {
    return new StartRefused(
      `Port ${port} of ${host} is in use by another program. Set METRICS_PORT to a port that is free.`,
    );
  }
  if (code === 'EACCES') {
    return new StartRefused(
      `This user may not listen on port ${port} of ${host}. Set METRICS_PORT to a port above 1023.`,
    );
  }
  return new StartRefused(`METRICS_PORT ${port} of ${host} cannot be listened on: ${message}.`);
}

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
