import { request as httpRequest, type Server } from 'node:http';
import { duplexPair, Readable } from 'node:stream';
import type { Names } from '@consigliere/mcp';
import { Body, Controller, Post, Query, Req, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import type { Request, Response } from 'express';
import { FROM_MCP } from '../../platform/auth/admission.guards.js';
import { type Caller, highestRole } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { presentedToken } from '../../platform/auth/presented-token.js';
import { assertOwnAddress } from '../../platform/auth/same-origin.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Route } from '../../platform/http/route.js';

class McpQuery {
  @IsOptional()
  @IsIn(['exact', 'portable'])
  names?: Names;
}

/** What of a request says who sends it and where to: the calls that it carries say the same. */
const PASSED_ON = ['host', 'user-agent', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'];

/** The MCP server (docs/decisions/0054): it calls the routes of this service, so that their rules are the only ones. */
@Controller('mcp')
export class McpController {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly publicAddress: PublicAddress,
  ) {}

  /** One message of an MCP client, of the revision 2026-07-28 or 2025-11-25. */
  @Post()
  @ApiExcludeEndpoint()
  @Route({
    auth: 'member',
    carries: true,
    transaction: false,
    limit: { limit: 240, windowSeconds: 60 },
    returns: { 200: { 'application/json': '{}' } },
  })
  async serve(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: Response,
    @Body() body: Record<string, unknown>,
    @Query() { names }: McpQuery,
  ): Promise<void> {
    assertOwnAddress(request, this.publicAddress.url);
    // Loaded when an assistant first comes: 150 ms and 26 MB that most starts need not spend.
    const [{ serveHttp }, { toNodeHandler }] = await Promise.all([
      import('@consigliere/mcp'),
      import('@modelcontextprotocol/node'),
    ]);
    const access = { role: highestRole(caller), scopes: caller.scopes };
    const handler = serveHttp(
      { token: presentedToken(request), baseUrl: this.publicAddress.url, fetch: this.inMemory(request) },
      { names, access: () => Promise.resolve(access) },
    );
    await toNodeHandler(handler)(request, response, body);
  }

  /** Calls this service through a pipe in memory, as from the address that the request came from. */
  private inMemory({ headers, socket: { remoteAddress } }: Request): typeof fetch {
    const server = this.host.httpAdapter.getHttpServer() as Server;
    const passedOn = Object.fromEntries(
      PASSED_ON.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
    );
    return (url, { method, headers: own, body, signal } = {}) =>
      new Promise((resolve, reject) => {
        const [ours, theirs] = duplexPair();
        server.emit('connection', Object.assign(theirs, { remoteAddress, [FROM_MCP]: true }));
        const { pathname, search } = new URL(url as string);
        const call = httpRequest({
          createConnection: () => ours,
          method,
          path: pathname + search,
          headers: { ...passedOn, ...Object.fromEntries(new Headers(own)) },
          signal: signal ?? undefined,
        });
        call.once('error', reject);
        call.once('response', (answer) => {
          const { statusCode: status, headers: given } = answer;
          const stream = Readable.toWeb(answer) as ReadableStream;
          resolve(new globalThis.Response(stream, { status, headers: given as Record<string, string> }));
        });
        call.end(body as string | undefined);
      });
  }
}
