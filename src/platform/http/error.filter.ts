import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  Injectable,
  NotFoundException,
} from '@nestjs/common';
import type { Response } from 'express';
import { PinoLogger } from 'nestjs-pino';
import { Callers } from '../auth/callers.js';
import { presentedToken } from '../auth/presented-token.js';
import { assertScope, scopesWith } from '../auth/token-scopes.js';
import { DomainError } from '../kernel/define-error.js';
import { Forbidden, Internal, MethodNotAllowed, NotFound } from '../kernel/errors.js';
import { clientAddress } from '../rate-limit/client-address.js';
import { RefusedLimit } from '../rate-limit/limit.guard.js';
import type { AdmittedRequest } from './admitted-request.js';
import { asDomainError, renderError } from './render-error.js';
import { RouteTable } from './route-table.js';

/** The one place where an error becomes an answer. */
@Catch()
@Injectable()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly routes: RouteTable,
    private readonly refused: RefusedLimit,
    private readonly callers: Callers,
    private readonly logger: PinoLogger,
  ) {}

  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    const request = http.getRequest<AdmittedRequest>();
    const response = http.getResponse<Response>();
    try {
      const error = request.windows
        ? await this.counted(asDomainError(thrown), request, response)
        : await this.withoutRoute(thrown, request, response);
      this.respond(error, request, response);
    } catch (failure) {
      // Nest does not wait for a filter: what it throws would be an unhandled rejection, which ends the process.
      this.respond(new Internal({ cause: failure }), request, response);
    }
  }

  private respond(error: DomainError, request: AdmittedRequest, response: Response): void {
    if (error.status === 500) {
      this.logger.error(
        { err: error.cause ?? error, requestId: request.requestId },
        'a request failed unexpectedly',
      );
    }
    // A stream that has begun cannot change its status any more; ending it is all that is left.
    if (response.headersSent) {
      response.destroy();
      return;
    }
    response
      .status(error.status)
      .set(error.headers)
      // The route may have set that of its success, and Express keeps what is set.
      .type('application/json; charset=utf-8')
      .json(renderError(error, request.requestId, request.askedVersion));
  }

  /** On a route that stops, those who may not call it have a window of their own, so that they keep nobody else from it. */
  private async counted(
    error: DomainError,
    { windowOfRefused }: AdmittedRequest,
    response: Response,
  ): Promise<DomainError> {
    if (!windowOfRefused) return error;
    const { headers, refusal } = await this.refused.count(windowOfRefused);
    response.set(headers);
    return refusal ?? error;
  }

  /** A path that no route has, or that is no path at all, was counted nowhere; it counts like a route of its own. */
  private async withoutRoute(
    thrown: unknown,
    request: AdmittedRequest,
    response: Response,
  ): Promise<DomainError> {
    const { headers, refusal } = await this.refused.countUnrouted(clientAddress(request));
    response.set(headers);
    if (refusal) return refusal;
    if (!(thrown instanceof NotFoundException)) return asDomainError(thrown);
    const forbidden = await this.forbidden(request);
    if (forbidden) return forbidden;
    const methods = this.routes.methodsOf(request.path);
    if (methods.length === 0)
      return new NotFound({ message: 'There is no such route. GET /docs lists all of them.' });
    return new MethodNotAllowed({ headers: { Allow: methods.join(', ') }, details: { allowed: methods } });
  }

  /** What a token that may only ask, or one that is paused, is told of routes that exist; undefined for everybody else. */
  private async forbidden(request: AdmittedRequest): Promise<DomainError | undefined> {
    const token = presentedToken(request);
    if (token === undefined) return undefined;
    try {
      assertScope(await this.callers.identify(token), scopesWith(['read', 'operate', 'decide', 'admin']));
    } catch (error) {
      if (error instanceof DomainError && error.status === Forbidden.status) return error;
    }
    return undefined;
  }
}
