import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { catchError, finalize, type Observable, throwError } from 'rxjs';
import { FROM_MCP } from '../auth/admission.guards.js';
import { Replica } from '../database/replica.js';
import { DomainError } from '../kernel/define-error.js';
import type { AdmittedRequest } from './admitted-request.js';
import { RouteTable } from './route-table.js';

/** The position of the last commit of an act, and with a later read the position that it must not be older than. */
export const POSITION_HEADER = 'X-Service-Position';

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
    const { context, headers, socket } = http.getRequest<AdmittedRequest>();
    const { method, policy } = this.routes.of(execution.getHandler());
    if (method !== 'GET') {
      const response = http.getResponse<Response>();
      context.notesPosition = this.replica.knowsPrimary;
      return next.handle().pipe(
        finalize(() => {
          if (context.position !== undefined && !response.headersSent)
            response.setHeader(POSITION_HEADER, context.position);
        }),
      );
    }
    const after = headers[POSITION_HEADER.toLowerCase()] ?? '';
    // An assistant's calls carry no position, and what is none asks for the primary.
    if (!policy.replica || FROM_MCP in socket || !/^([\dA-F]{24})?$/.test(String(after))) return next.handle();
    context.readsAfter = String(after);
    return next.handle().pipe(
      catchError((error: unknown) => {
        const isMissing = error instanceof DomainError && error.status === 404;
        if (!isMissing || !context.readReplica) return throwError(() => error);
        // It may have been made a moment ago.
        context.readsAfter = undefined;
        return next.handle();
      }),
    );
  }
}
