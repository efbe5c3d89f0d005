import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Proxy } from './proxies.js';

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  body: any;
}

/** A client of the service behind a proxy, over TLS and one kept connection, at a loopback address of its own. */
export class ProxiedClient {
  readonly #agent: Agent;

  constructor(
    private readonly proxy: Proxy,
    private readonly token: string,
    readonly address: string,
  ) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: 4 });
  }

  get(path: string, headers?: Record<string, string>): Promise<Reply> {
    return this.send('GET', path, undefined, headers);
  }

  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply> {
    return this.send('POST', path, JSON.stringify(body), headers);
  }

  /** The body goes over in these parts, with so many milliseconds between them. */
  async send(
    method: string,
    path: string,
    body: string | string[] = [],
    headers: Record<string, string> = {},
    pauseMs = 0,
  ): Promise<Reply> {
    const parts = [body].flat();
    const response = await this.open(method, path, parts, headers, pauseMs);
    response.setEncoding('utf8');
    let text = '';
    for await (const chunk of response) text += chunk;
    const isJson = /[/+]json/.test(response.headers['content-type'] ?? '');
    return {
      status: response.statusCode!,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : undefined,
    };
  }

  /** Answers once the head of the answer is there. */
  open(
    method: string,
    path: string,
    parts: string[] = [],
    headers: Record<string, string> = {},
    pauseMs = 0,
  ): Promise<IncomingMessage> {
    const { port, name, ca } = this.proxy;
    const size = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
    return new Promise((resolve, reject) => {
      const sent = request({
        host: '127.0.0.1',
        port,
        localAddress: this.address,
        servername: name,
        ca,
        agent: this.#agent,
        method,
        path: path.startsWith('/health') || path === '/metrics' ? path : `/api/pro${path}`,
        headers: {
          Host: name,
          'x-service-token': this.token,
          ...(size > 0 && { 'Content-Type': 'application/json', 'Content-Length': size }),
          ...headers,
        },
      });
      sent.once('response', resolve).once('error', reject);
      void (async () => {
        for (const [index, part] of parts.entries()) {
          if (index > 0) await sleep(pauseMs);
          sent.write(part);
        }
        sent.end();
      })();
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
