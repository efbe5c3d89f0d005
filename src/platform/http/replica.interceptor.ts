import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { catchError, finalize, type Observable, throwError } from 'rxjs';
import { FROM_MCP } from '../auth/admission.guards.js';
import { Replica } from '../database/replica.js';
import { DomainError } from '../kernel/define-error.js';
import { isAdminPath } from './admin-path.js';
import type { AdmittedRequest } from './admitted-request.js';
import { POSITION_HEADER } from './documentation-headers.js';
import { RouteTable } from './route-table.js';

/** Lets a replica answer what a route allows, and tells callers where what they have changed stands. */
@Injectable()
export class ReplicaInterceptor implements NestInterceptor {
  constructor(
    private readonly replica: Replica,
    private readonly routes: RouteTable,
  ) {}

  intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (!this.replica.isConfigured) return next.handle();
    const http = execution.switchToHttp();
    const request = http.getRequest<AdmittedRequest>();
    const response = http.getResponse<Response>();
    const { context } = request;
    context.notesPosition = true;
    context.readsAfter = this.routes.of(execution.getHandler()).policy.replica
      ? readsAfter(request)
      : undefined;
    const again = (error: unknown) => {
      const isMissing = error instanceof DomainError && error.status === 404;
      if (!isMissing || !context.readReplica) return throwError(() => error);
      // It may have been made a moment ago.
      context.readsAfter = undefined;
      return next.handle();
    };
    const showPosition = () => {
      const { position } = context;
      if (position !== undefined && !response.headersSent) response.setHeader(POSITION_HEADER, position);
    };
    return next.handle().pipe(catchError(again), finalize(showPosition));
  }
}

/** The position that a read must not be older than, `''` for any; undefined where the primary is to answer. */
function readsAfter({ headers, route, socket }: AdmittedRequest): string | undefined {
  // The admin area is for what is so now, and an assistant's calls carry no position.
  if (isAdminPath((route as { path: string }).path) || FROM_MCP in socket) return undefined;
  const asked = String(headers[POSITION_HEADER.toLowerCase()] ?? '');
  return /^([\dA-F]{24})?$/.test(asked) ? asked : undefined;
}
