import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { AdmittedRequest } from '../http/admitted-request.js';
import { isAdminPath } from '../http/admin-path.js';
import { API_VERSION_HEADER, askedVersion } from '../http/api-version.js';
import { assertNoProperties, readBody, readRawBody } from '../http/body.js';
import { isCleanText, keyFaults, unclean } from '../http/json.js';
import { PublicAddress } from '../http/public-address.js';
import type { RoutePolicy } from '../http/route.js';
import { type RouteEntry, RouteTable } from '../http/route-table.js';
import { Forbidden, NotFound, ValidationFailed } from '../kernel/errors.js';
import { type Caller, hasRole, highestRole } from './caller.js';
import { Callers } from './callers.js';
import { presentedToken } from './presented-token.js';
import { assertSameOrigin } from './same-origin.js';
import { CSRF_HEADER, isCsrfTokenOf, sessionSecretOf } from './session-cookie.js';
import { SignedRequests } from './signed-requests.js';
import { assertScope } from './token-scopes.js';

/** Which version the client speaks; an unknown one ends the request before anything is executed. */
@Injectable()
export class VersionGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<AdmittedRequest>();
    request.askedVersion = askedVersion(request.headers[API_VERSION_HEADER.toLowerCase()]);
    return true;
  }
}

/**
 * Who calls. Only a route that says `public` or `signature` is passed without a credential: below /api/admin the cookie of a
 * session, and for a change its CSRF token and a page of ours; everywhere else an operator token. Neither opens what the
 * other does.
 */
@Injectable()
export class CallerGuard implements CanActivate {
  constructor(
    private readonly routes: RouteTable,
    private readonly callers: Callers,
    private readonly publicAddress: PublicAddress,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { policy } = this.routes.of(context.getHandler());
    const http = context.switchToHttp();
    const request = http.getRequest<AdmittedRequest>();
    // The path as it is declared: another spelling of it, in capitals say, is still the same route.
    const { path } = request.route as { path: string };
    const isAdmin = isAdminPath(path);
    if (isAdmin) {
      http.getResponse<Response>().vary('Cookie');
      if (changes(request)) assertSameOrigin(request, this.publicAddress.url);
    }
    if (policy.auth === 'public' || policy.auth === 'signature') return true;
    request.caller = isAdmin
      ? await this.signedIn(request, policy)
      : throughClient(await this.callers.identify(presentedToken(request), policy), request);
    return true;
  }

  private async signedIn(request: AdmittedRequest, policy: RoutePolicy): Promise<Caller> {
    const secret = sessionSecretOf(request.headers, this.publicAddress.url);
    const caller = await this.callers.identifySession(secret, policy);
    if (changes(request) && !isCsrfTokenOf(secret!, request.headers[CSRF_HEADER.toLowerCase()])) {
      const message = `A change in the admin area needs the session's CSRF token in the header ${CSRF_HEADER}.`;
      throw new Forbidden({ reason: 'csrf_token', message });
    }
    return caller;
  }
}

/**
 * The caller with the surface that the client names. It is a claim of the token's holder, written into receipts, and grants nothing;
 * the token of a session is the dashboard's, whatever is said, and only a call of our own MCP server is one.
 */
function throughClient(caller: Caller, { headers, socket }: AdmittedRequest): Caller {
  const claimed = CLIENTS.find((client) => client === headers['x-service-client']);
  const via = FROM_MCP in socket ? 'mcp' : claimed;
  return via === undefined || caller.via !== 'api' ? caller : { ...caller, via };
}

/** On the pipe through which our MCP server calls the routes. */
export const FROM_MCP = Symbol('from our MCP server');
const CLIENTS = ['cli', 'dashboard'] as const;

const changes = ({ method }: AdmittedRequest) => method !== 'GET' && method !== 'HEAD';

/** Whether the body is signed; before it is parsed, so that nothing is revealed to those who cannot sign. */
@Injectable()
export class SignatureGuard implements CanActivate {
  constructor(
    private readonly routes: RouteTable,
    private readonly signed: SignedRequests,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.routes.of(context.getHandler()).policy.auth !== 'signature') return true;
    const http = context.switchToHttp();
    const request = http.getRequest<AdmittedRequest>();
    const rawBody = await readRawBody(request, http.getResponse<Response>());
    request.signedFor = await this.signed.verify(request.headers, rawBody);
    return true;
  }
}

/**
 * Whether the caller's token has the scope, and the caller the role: in the workspace, or in any team where the use case then
 * asks for the row's.
 */
@Injectable()
export class RoleGuard implements CanActivate {
  constructor(private readonly routes: RouteTable) {}

  canActivate(context: ExecutionContext): boolean {
    const { caller } = context.switchToHttp().getRequest<AdmittedRequest>();
    if (caller) assertMayCall(caller, this.routes.of(context.getHandler()));
    return true;
  }
}

/** @throws Forbidden unless the caller's token and role may call the route */
export function assertMayCall(caller: Caller, { role, roles, scopes, policy }: RouteEntry): void {
  assertScope(caller, scopes);
  const held = policy.teamRole ? highestRole(caller) : caller.role;
  if (!hasRole(held, role)) throw new Forbidden({ details: { requiredRoles: roles } });
}

/** Reads the body, and only of those who may send one; text that the database cannot hold ends here. */
@Injectable()
export class InputGuard implements CanActivate {
  constructor(private readonly routes: RouteTable) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<AdmittedRequest>();
    if (!Object.values(request.params).flat().every(isCleanText)) throw new NotFound();
    const faults = Object.entries(request.query).flatMap(([key, value]) => [
      ...keyFaults(key, key),
      ...([value].flat().map(String).every(isCleanText) ? [] : [unclean(key)]),
    ]);
    if (faults.length > 0) throw new ValidationFailed({ details: faults });
    const { takesBody, policy } = this.routes.of(context.getHandler());
    await readBody(request, http.getResponse<Response>(), policy.form ? 'form' : 'json');
    if (!takesBody) assertNoProperties(request.body);
    const { stops } = policy;
    if (request.refusedUnlessItStops && typeof stops === 'function' && !stops(request.body)) {
      throw request.refusedUnlessItStops;
    }
    return true;
  }
}
