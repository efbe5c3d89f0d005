import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import type { DomainError } from '../kernel/define-error.js';
import { HeadersTooLarge, MalformedRequest, PayloadTooLarge, RequestTimeout } from '../kernel/errors.js';
import { newId } from '../kernel/ids.js';
import { countedAddress } from '../rate-limit/client-address.js';
import { RefusedLimit } from '../rate-limit/limit.guard.js';
import { API_VERSION_HEADER, CURRENT_VERSION } from './api-version.js';
import { renderError } from './render-error.js';

/**
 * How long headers, and a request as a whole, may take to arrive, in milliseconds; looked at each second. Node's own
 * bounds are a minute and five, looked at twice a minute: a body that drips keeps its socket, and what it holds, so long.
 * Both begin with the first byte of a request, so a connection that is kept without one is not concerned.
 */
const TIMEOUTS = { headersTimeout: 15_000, requestTimeout: 30_000, connectionsCheckingInterval: 1_000 };

/** How long a client may take to read its refusal, in milliseconds. */
const LINGER_MS = 1_000;

/**
 * Answers what Node's HTTP server would refuse by itself, with bytes of its own: what is no HTTP never becomes a
 * request, but it gets the answer of one, with every header that no answer goes without (CONTRACT section 1).
 */
@Injectable()
export class BrokenRequests {
  /** After the first fault, nothing on the connection is treated as a request. */
  readonly #refused = new WeakSet<Socket>();

  constructor(
    private readonly limit: RefusedLimit,
    private readonly logger: PinoLogger,
  ) {}

  /** Takes over the refusals of this server, which does not listen yet. */
  answer(server: Server, timeouts = TIMEOUTS): void {
    // HTTP/1.1 without Host is refused by `requireHost`, an expectation that nobody knows by nobody (RFC 9110, 10.1.1).
    Object.assign(server, { requireHostHeader: false }, timeouts);
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));

    const latest = new WeakMap<Socket, ServerResponse>();
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) =>
      latest.set(request.socket, response),
    );
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      void this.refuse(socket as Socket, refusalOf(error), latest.get(socket as Socket));
    });
    server.on('connect', (_request, socket) => {
      void this.refuse(socket as Socket, new MalformedRequest({ message: 'This server is not a proxy.' }));
    });
  }

  private async refuse(socket: Socket, error: DomainError, earlier?: ServerResponse): Promise<void> {
    if (this.#refused.has(socket)) return;
    this.#refused.add(socket);
    socket.on('error', () => socket.destroy());
    // Answers go out in the order of the requests: a whole one before this one gets its own first.
    if (earlier?.req.complete && !earlier.writableFinished)
      await once(earlier, 'close').catch(() => undefined);
    // The broken rest of a request that has its answer already is no request of its own.
    const answeredBefore = earlier !== undefined && !earlier.req.complete && earlier.headersSent;
    if (answeredBefore || !socket.writable) return socket.destroySoon();
    const { headers, refusal } = await this.limit.countUnrouted(countedAddress(socket.remoteAddress));
    const answered = refusal ?? error;
    const requestId = newId('req');
    this.logger.info(
      { requestId, status: answered.status, reason: error.reason },
      'a malformed HTTP request was refused',
    );
    socket.end(bytesOf(answered, requestId, headers));
    const late = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(late));
  }
}

function refusalOf({ code }: NodeJS.ErrnoException): DomainError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new HeadersTooLarge();
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new PayloadTooLarge({ message: 'The chunk extensions are too long.' });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new RequestTimeout();
    default:
      return new MalformedRequest();
  }
}

/** An answer in shape A, since a version that was asked for cannot be known; the connection ends with it. */
function bytesOf(error: DomainError, requestId: string, limits: Record<string, string>): string {
  const body = JSON.stringify(renderError(error, requestId, undefined));
  const headers = {
    Date: new Date().toUTCString(),
    'X-Request-Id': requestId,
    [API_VERSION_HEADER]: CURRENT_VERSION,
    Vary: API_VERSION_HEADER,
    'Cache-Control': 'no-store',
    ...limits,
    ...error.headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`, ...lines, '', body].join('\r\n');
}
