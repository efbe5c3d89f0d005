import type { NextFunction, Response } from 'express';
import { newId } from '../kernel/ids.js';
import { RequestContext } from '../kernel/request-context.js';
import type { AdmittedRequest } from './admitted-request.js';
import { API_VERSION_HEADER, CURRENT_VERSION } from './api-version.js';

/** What comes before admission: the request id, the headers that no answer goes without, the context. */
export function startRequest(request: AdmittedRequest, response: Response, next: NextFunction): void {
  request.requestId = newId('req');
  response.setHeader('X-Request-Id', request.requestId);
  response.setHeader(API_VERSION_HEADER, CURRENT_VERSION);
  response.setHeader('Vary', API_VERSION_HEADER);
  request.context = new RequestContext(request.requestId);
  RequestContext.run(request.context, next);
}
