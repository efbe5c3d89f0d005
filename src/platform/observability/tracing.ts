import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Span } from '@opentelemetry/api';
import type { NextFunction, Response } from 'express';
import { PinoLogger } from 'nestjs-pino';
import { Config } from '../config/config.js';
import type { AdmittedRequest } from '../http/admitted-request.js';
import type { Trace, TraceAttributes } from '../kernel/request-context.js';
import type { WorkItem } from '../work/work-item.js';

type Kind = 'SERVER' | 'CONSUMER' | 'CLIENT';
/** Begins a step below the one of `parent`, or a trace of its own. */
type Begin = (
  name: string,
  kind: Kind,
  parent: string | null | undefined,
  about: TraceAttributes,
) => OpenSpan;

/** For what has ended but is not sent yet when the process ends. */
const LAST_EXPORT_MS = 3_000;

/**
 * Sends what requests and work did to an OpenTelemetry collector, if one is configured (docs/decisions/0063): a step for each
 * request and each attempt at work, and below it one for each transaction, call of a model, mail and request to others.
 * Without a collector no package is loaded and nothing is recorded.
 */
@Injectable()
export class Tracing implements OnModuleInit, OnApplicationShutdown {
  #begin: Begin | undefined;
  #shutdown = async () => {};

  constructor(
    private readonly config: Config,
    private readonly logger: PinoLogger,
  ) {}

  async onModuleInit(): Promise<void> {
    const { otelExporterOtlpEndpoint: endpoint, processRole } = this.config;
    if (endpoint === undefined) return;
    const [{ ROOT_CONTEXT, SpanKind, SpanStatusCode, trace }, core, sdk, { OTLPTraceExporter }, resources] =
      await Promise.all([
        import('@opentelemetry/api'),
        import('@opentelemetry/core'),
        import('@opentelemetry/sdk-trace'),
        import('@opentelemetry/exporter-trace-otlp-http'),
        import('@opentelemetry/resources'),
      ]);
    const failed = (err: unknown) => this.logger.warn({ err }, 'traces could not be sent to the collector');
    core.setGlobalErrorHandler(failed);
    const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, timeoutMillis: LAST_EXPORT_MS });
    const provider = new sdk.TracerProvider({
      resource: resources.resourceFromAttributes({
        'service.name': 'consigliere',
        'service.instance.id': `${processRole}-${process.pid}`,
      }),
      spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
    });
    const tracer = provider.getTracer('consigliere');
    const begin: Begin = (name, kind, parent, attributes) => {
      const remote = core.parseTraceParent(parent ?? '');
      const context = remote ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT;
      const span = tracer.startSpan(name, { kind: SpanKind[kind], attributes }, context);
      return new OpenSpan(span, begin, () => span.setStatus({ code: SpanStatusCode.ERROR }));
    };
    this.#begin = begin;
    // A collector that is away keeps no process from ending.
    this.#shutdown = () => provider.shutdown().catch(failed);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#shutdown();
  }

  /** Express middleware: what the request does belongs to the trace that its `traceparent` names. */
  readonly observe = (request: AdmittedRequest, response: Response, next: NextFunction): void => {
    const { method, headers, context, requestId, clientRequestId } = request;
    const span = this.#begin?.(method, 'SERVER', headers['traceparent'] as string | undefined, {
      'http.request.method': method,
      'consigliere.request_id': requestId,
      'consigliere.client_request_id': clientRequestId,
    });
    if (span) {
      context.trace = span;
      response.once('close', () => {
        const route = (request.route as { path?: string } | undefined)?.path;
        if (route !== undefined) span.rename(`${method} ${route}`);
        const status = response.statusCode;
        span.end(status >= 500, { 'http.route': route, 'http.response.status_code': status });
      });
    }
    next();
  };

  /** One attempt at work, in the trace of what enqueued it. */
  ofWork({ kind, id, attempt, traceparent }: WorkItem): OpenSpan | undefined {
    return this.#begin?.(kind, 'CONSUMER', traceparent, {
      'consigliere.work.id': id,
      'consigliere.work.attempt': attempt,
    });
  }
}

class OpenSpan implements Trace {
  readonly traceparent: string;

  constructor(
    private readonly span: Span,
    private readonly begin: Begin,
    private readonly fail: () => void,
  ) {
    const { traceId, spanId, traceFlags } = span.spanContext();
    this.traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  }

  async child<T>(
    name: string,
    attributes: TraceAttributes,
    step: (traceparent: string) => Promise<T>,
  ): Promise<T> {
    const child = this.begin(name, 'CLIENT', this.traceparent, attributes);
    try {
      const result = await step(child.traceparent);
      child.end(false);
      return result;
    } catch (error) {
      // Its message may quote what a mail or a person says.
      child.end(true, { 'error.type': (error as Error).name });
      throw error;
    }
  }

  rename(name: string): void {
    this.span.updateName(name);
  }

  end(hasFailed: boolean, attributes: TraceAttributes = {}): void {
    this.span.setAttributes(attributes);
    if (hasFailed) this.fail();
    this.span.end();
  }
}
