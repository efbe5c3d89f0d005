import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** What may become of a request on its way; `undefined`: nothing. */
export type Fault =
  /** The connection breaks before the service has the request. */
  | 'reset'
  /** The service has done it, and the connection breaks before its answer is there. */
  | 'lost answer'
  /** The answer breaks off in the middle of its body. */
  | 'cut body'
  /** The head of the answer comes, and then nothing. */
  | 'slow body'
  /** The service has done it, and nothing comes at all. */
  | 'silence'
  /** The service gets the request twice, and the client its answer. */
  | 'twice'
  /** As `twice`, and the client gets both answers on its connection. */
  | 'two answers'
  /** The service has done it, and a proxy answers in its place. */
  | 'bad gateway'
  /** Any answer instead of the service's, which never hears of it. */
  | { status: number; headers?: Record<string, string>; body?: string };

export interface Seen {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
  /** The answer has begun to come. */
  isAnswered?: boolean;
}

const BAD_GATEWAY = '<html><h1>502 Bad Gateway</h1></html>';

/** Stands on loopback before the real service. Each request takes the next fault; each comes from an address of its own. */
export class HostileProxy {
  readonly seen: Seen[] = [];
  readonly faults: (Fault | undefined)[] = [];
  url = '';
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(
    private readonly target: string,
    private readonly next: (seen: Seen) => Fault | undefined,
  ) {
    this.#server = createServer((incoming, response) => {
      this.handle(incoming, response).catch(() => incoming.socket.destroy());
    });
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      socket.on('error', () => undefined);
    });
  }

  /** @param next the fault of a request; without it those that a test puts into `faults` */
  static async start(target: string, next?: (seen: Seen) => Fault | undefined): Promise<HostileProxy> {
    const proxy: HostileProxy = new HostileProxy(target, next ?? (() => proxy.faults.shift()));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    proxy.url = `http://127.0.0.1:${(proxy.#server.address() as AddressInfo).port}`;
    return proxy;
  }

  /** The requests since the last call. */
  take(): Seen[] {
    return this.seen.splice(0);
  }

  /** Breaks every connection that is open. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, 'close');
  }

  private async handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await buffer(incoming)).toString();
    const seen: Seen = { method: incoming.method!, path: incoming.url!, headers: incoming.headers, body };
    this.seen.push(seen);
    const fault = this.next(seen);
    const { socket } = incoming;
    if (typeof fault === 'object') {
      response.writeHead(fault.status, fault.headers).end(fault.body ?? '');
      return;
    }
    if (fault === 'reset') return void socket.resetAndDestroy();
    if (fault === undefined) return this.pass(seen, response);
    const [answer] = await Promise.all([
      this.forward(seen),
      fault === 'twice' || fault === 'two answers' ? this.forward(seen) : undefined,
    ]);
    const head = { 'Content-Type': answer.headers['content-type'], 'Content-Length': answer.body.length };
    if (fault === 'lost answer') socket.resetAndDestroy();
    else if (fault === 'bad gateway')
      response.writeHead(502, { 'Content-Type': 'text/html' }).end(BAD_GATEWAY);
    else if (fault === 'twice') response.writeHead(answer.status, head).end(answer.body);
    else if (fault === 'two answers') {
      const lines = [
        `HTTP/1.1 ${answer.status} OK`,
        ...Object.entries(head).map(([name, value]) => `${name}: ${value}`),
      ];
      const whole = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), answer.body]);
      socket.write(Buffer.concat([whole, whole]));
    } else if (fault !== 'silence') {
      response.writeHead(answer.status, head).write(answer.body.subarray(0, answer.body.length / 2));
      if (fault === 'cut body') setTimeout(() => socket.resetAndDestroy(), 5);
    }
  }

  private options({ method, headers }: Seen) {
    const { host: _host, connection: _connection, ...rest } = headers;
    const address = `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
    return { method, headers: { ...rest, 'x-forwarded-for': address }, agent: false };
  }

  private pass(seen: Seen, response: ServerResponse): void {
    const upstream = request(this.target + seen.path, this.options(seen), (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.on('error', () => response.destroy());
      answer.once('data', () => (seen.isAnswered = true));
      answer.pipe(response);
    });
    upstream.once('error', () => response.destroy());
    response.once('close', () => upstream.destroy());
    upstream.end(seen.body);
  }

  private async forward(seen: Seen) {
    const upstream = request(this.target + seen.path, this.options(seen)).end(seen.body);
    const [answer] = (await once(upstream, 'response')) as [IncomingMessage];
    return { status: answer.statusCode!, headers: answer.headers, body: await buffer(answer) };
  }
}
