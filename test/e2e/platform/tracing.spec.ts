import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LoopbackModel } from '../../support/loopback-model.js';
import { type EventReceiver, startEventReceiver } from '../../support/event-receiver.js';
import { freePort } from '../../support/machine-postgres.js';
import { type Service, startService } from '../../support/processes.js';
import { eventually } from '../../support/test-app.js';
import { type MailServer, startMailServer } from '../mail/mail-server.js';

/** What the proxy says, in the example of W3C Trace Context. */
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const OF_PROXY = `00-${TRACE}-00f067aa0ba902b7-01`;

/** Writes to stderr what is loaded of the packages that trace. */
const namesOfTracing = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({ load(url, context, next) {
    if (/opentelemetry.(sdk|core|resources|exporter|otlp)/.test(url)) process.stderr.write(url);
    return next(url, context);
  } });`)}`;

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: object }[];
  status: { code?: number };
  /** The role of the process that sent it. */
  role: string;
}

/** A collector that takes OTLP over HTTP, as JSON. */
async function startCollector() {
  const spans: Span[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const body = await buffer(request);
      expect([request.method, request.url]).toEqual(['POST', '/v1/traces']);
      for (const { resource, scopeSpans } of JSON.parse(body.toString()).resourceSpans) {
        const { value } = resource.attributes.find(({ key }: any) => key === 'service.instance.id');
        const [role] = value.stringValue.split('-');
        for (const scope of scopeSpans) spans.push(...scope.spans.map((span: Span) => ({ ...span, role })));
      }
      response.setHeader('Content-Type', 'application/json').end('{}');
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = () => new Promise((closed) => server.close(closed).closeAllConnections());
  return { url: `http://127.0.0.1:${port}`, spans, close };
}

describe('with a collector', () => {
  let collector: Awaited<ReturnType<typeof startCollector>>;
  let model: LoopbackModel;
  let mail: MailServer;
  let receiver: EventReceiver;
  let service: Service;
  beforeAll(async () => {
    collector = await startCollector();
    model = await LoopbackModel.start();
    mail = await startMailServer();
    receiver = await startEventReceiver();
    service = await startService(1, {
      PROCESS_ROLE: 'api',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      MODEL_PROVIDER: 'openai-compatible',
      MODEL_BASE_URL: model.url,
      MODEL_NAME: 'test-model',
      SMTP_URL: mail.url,
      OUTBOUND_ALLOW: receiver.hostPort,
    });
    await service.start({ PROCESS_ROLE: 'worker' });
  }, 60_000);
  afterAll(async () => {
    await service?.close();
    await Promise.all([model?.stop(), mail?.close(), receiver?.close(), collector?.close()]);
  });

  it('one directive is one trace, from its hand-in at the api to model, mail and webhook at the worker', async () => {
    const params = { to: ['jane@acme.example'], cc: null, subject: 'News', body: 'It arrives today.' };
    const packet = {
      title: 'Mail',
      type: 'email.send',
      target: 'x',
      params,
      rationale: 'Asked for.',
      multipliers: [],
    };
    model.reply = () => ({ content: JSON.stringify({ summary: 'A mail.', packets: [packet] }) });
    const client = service.client(service.processes[0]);
    const events = ['directive.executed'];
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    expect((await client.post('/webhooks', { events, url: receiver.url, secret })).status).toBe(201);

    const body = { text: 'Tell jane@acme.example when it arrives.', capo: 'capo_ops' };
    const headers = { traceparent: OF_PROXY, 'X-Request-Id': 'order-17' };
    const handedIn = await client.post('/directive', body, headers);
    expect(handedIn.status, handedIn.text).toBe(201);
    const approval = `/approvals/${handedIn.body.approvalId}`;
    expect((await client.get(`${approval}?wait=30`)).body.ready).toBe(true);
    // A request of somebody else, at another time, with a trace of its own.
    expect((await client.post(`${approval}/approve`)).status).toBe(200);
    await eventually(async () => mail.received.length === 1 && receiver.received.length === 1);
    await Promise.all(service.processes.map((one) => one.stop()));

    const spans = collector.spans.filter(({ traceId }) => traceId === TRACE);
    const named = (name: string) => spans.find((span) => span.name === name)!;
    const parentOf = ({ parentSpanId }: Span) => spans.find(({ spanId }) => spanId === parentSpanId);
    const handIn = named('POST /api/pro/directive');
    expect([handIn.role, handIn.parentSpanId]).toEqual(['api', OF_PROXY.split('-')[2]]);
    expect(handIn.attributes).toContainEqual({
      key: 'consigliere.client_request_id',
      value: { stringValue: 'order-17' },
    });
    const draft = named('directive.draft');
    expect([draft.role, parentOf(draft)]).toEqual(['worker', handIn]);
    const send = named('packet.send');
    expect([send.role, parentOf(send)]).toEqual(['worker', handIn]);
    expect(parentOf(named('model'))).toBe(draft);
    expect(parentOf(named('mail'))).toBe(send);
    const delivery = named('webhook.deliver');
    const post = named('POST');
    expect(parentOf(post)).toBe(delivery);
    expect(parentOf(delivery)).toBe(send);
    for (const one of [handIn, draft, send, delivery])
      expect(spans.some((span) => span.name === 'transaction' && parentOf(span) === one)).toBe(true);
    // Whoever was called can go on with the trace.
    expect(model.requests[0]!.headers['traceparent']).toBe(`00-${TRACE}-${named('model').spanId}-01`);
    expect(receiver.received[0]!.headers['traceparent']).toBe(`00-${TRACE}-${post.spanId}-01`);
    // Spans name no person and quote nobody.
    expect(JSON.stringify(collector.spans)).not.toMatch(/jane|arrives|News|whsec|cons_/);

    const line = service.processes[0]!.logs.find(
      ({ route, method }) => method === 'POST' && route === '/api/pro/directive',
    );
    expect(line).toMatchObject({
      requestId: handedIn.headers.get('x-request-id'),
      clientRequestId: 'order-17',
      traceId: TRACE,
      address: client.address,
    });
  });
});

describe('with a collector that is away', () => {
  it('serves, says so in the log, and ends in time', async () => {
    const OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${await freePort()}`;
    const service = await startService(1, { OTEL_EXPORTER_OTLP_ENDPOINT });
    try {
      const body = { text: 'Email jane@acme.example: "It arrives today."' };
      expect((await service.client().post('/directive', body)).status).toBe(201);
      const [process] = service.processes;
      expect(await process!.stop()).toBe(0);
      expect(process!.logs.map(({ msg }) => msg)).toContain('traces could not be sent to the collector');
    } finally {
      await service.close();
    }
  }, 60_000);
});

describe('without a collector', () => {
  it('loads nothing for it, and writes no trace', async () => {
    const service = await startService(1, { NODE_OPTIONS: `--import=${namesOfTracing}` });
    try {
      const body = { text: 'Email jane@acme.example: "It arrives today."' };
      const headers = { traceparent: OF_PROXY, 'X-Request-Id': `two words` };
      expect((await service.client().post('/directive', body, headers)).status).toBe(201);
      expect(await service.rows('select traceparent from directives')).toEqual([{ traceparent: null }]);
      const [process] = service.processes;
      const lines = () => process!.logs.filter(({ route }) => route === '/api/pro/directive');
      await eventually(async () => lines().length === 1);
      expect([lines()[0]!['traceId'], lines()[0]!['clientRequestId']]).toEqual([undefined, undefined]);
      expect(process!.errors).toBe('');
    } finally {
      await service.close();
    }
  }, 60_000);
});
