import type { NextFunction, Request, Response } from 'express';
import type { AdmittedRequest } from './admitted-request.js';
import { API_VERSION_HEADER, CURRENT_VERSION, knownVersion } from './api-version.js';
import { MalformedRequest } from '../kernel/errors.js';
import { newId } from '../kernel/ids.js';
import { RequestContext } from '../kernel/request-context.js';

/**
 * Ends a JSON answer with a line break when curl asks, so that the next prompt of the terminal starts on a line of its own.
 * It is added as the answer is sent: what is stored for a replay, and what other clients get, is as it was.
 */
export function endLineForCurl(request: Request, response: Response, next: NextFunction): void {
  if (request.headers['user-agent']?.startsWith('curl/')) {
    const send = response.send.bind(response);
    response.send = (body?: unknown) => {
      const isJson = /[/+]json/.test(String(response.getHeader('Content-Type')));
      return send(typeof body === 'string' && isJson && !body.endsWith('\n') ? `${body}\n` : body);
    };
  }
  next();
}

/** What comes before admission: the request id, the headers that no answer goes without, the context. */
export function startRequest(request: AdmittedRequest, response: Response, next: NextFunction): void {
  request.requestId = newId('req');
  request.clientRequestId = printable(request.headers['x-request-id']);
  request.address = request.ip;
  response.setHeader('X-Request-Id', request.requestId);
  response.setHeader(API_VERSION_HEADER, CURRENT_VERSION);
  response.setHeader('Vary', API_VERSION_HEADER);
  response.setHeader('Cache-Control', 'no-store');
  // Known from here on, so that an answer that comes before the version is checked has the right shape.
  request.askedVersion = knownVersion(request.headers[API_VERSION_HEADER.toLowerCase()]);
  request.context = new RequestContext(request.requestId);
  RequestContext.run(request.context, next);
}

/** What is longer, or holds anything but letters, digits and signs, is nobody's id. */
function printable(id: string | string[] | undefined): string | undefined {
  return typeof id === 'string' && /^[\x21-\x7e]{1,128}$/.test(id) ? id : undefined;
}

/**
 * Refuses HTTP/1.1 without Host, and any request with two, as RFC 9112 (3.2) demands; in our shape, unlike Node, which
 * sends an empty 400 for the one and takes the first of the others.
 */
export function requireHost(request: AdmittedRequest, _response: Response, next: NextFunction): void {
  const hosts = request.headersDistinct['host']?.length ?? 0;
  if (hosts > 1) next(new MalformedRequest({ message: 'A request must have one Host header, not several.' }));
  else if (hosts === 0 && request.httpVersion === '1.1')
    next(new MalformedRequest({ message: 'An HTTP/1.1 request must have a Host header.' }));
  else next();
}
