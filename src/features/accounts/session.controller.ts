import { Controller, Delete, Get, Param, Query, Body, Post, Req, Res } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { type Caller, hasRole, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { sessionCookie, sessionSecretOf } from '../../platform/auth/session-cookie.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Route } from '../../platform/http/route.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound, RateLimited, Unauthorized } from '../../platform/kernel/errors.js';
import { clientAddress } from '../../platform/rate-limit/client-address.js';
import { SessionToken } from '../workspaces/index.js';
import { endOf, SessionService, type Origin, type StartedSession } from './session.service.js';
import {
  EndedSession,
  SESSION_PARAM,
  SessionPage,
  SessionsQuery,
  OpenWorkspaceBody,
  OperatorToken,
  SessionView,
  SignInBody,
} from './accounts.dto.js';
import { Sessions } from './sessions.repository.js';
import { SignIn } from './sign-in.js';

/** The open sessions of the workspace. */
@Controller('api/admin/sessions')
export class SessionsController {
  constructor(
    private readonly sessions: Sessions,
    private readonly session: SessionService,
    private readonly clock: Clock,
  ) {}

  /** The open sessions; owner and admin see those of every member, others their own. */
  @Get()
  @Route({ auth: 'member', beforeSecondFactor: true, stops: true, returns: { 200: SessionPage } })
  async list(
    @CurrentCaller() caller: Caller,
    @Query() { memberId, others, ...paging }: SessionsQuery,
  ): Promise<SessionPage> {
    const whose = hasRole(caller.role, 'admin') ? memberId : caller.memberId;
    const but = others ? caller.memberId : undefined;
    const page = await this.sessions.list(scopeOf(caller), { whose, but }, this.clock.now(), paging);
    const items = page.items.map(({ expiresAt, ...session }) => ({
      ...session,
      current: session.sessionId === caller.credentialId,
      endsAt: endOf({ ...session, expiresAt }),
    }));
    return { ...page, items };
  }

  /** Ends a session; within a second no process accepts its cookie, or a token that it made, any more. */
  @ApiParam(SESSION_PARAM)
  @Delete(':id')
  @Route({ auth: 'member', beforeSecondFactor: true, stops: true, returns: { 200: EndedSession } })
  end(@CurrentCaller() caller: Caller, @Param('id') sessionId: string): Promise<EndedSession> {
    return this.session.end(caller, sessionId);
  }
}

/** Each try costs a hash. */
const SIGN_IN_LIMIT = { limit: 20, windowSeconds: 60, bucket: 'sign-in' };

/** The session of a user of the admin area; its cookie opens that area and nothing else. */
@Controller('api/admin')
export class SessionController {
  constructor(
    private readonly signIn: SignIn,
    private readonly session: SessionService,
    private readonly sessionToken: SessionToken,
    private readonly publicAddress: PublicAddress,
  ) {}

  /** Signs in, with `code` where the account has a second factor; the answer sets the cookie, and the browser's old session ends. */
  @Post('session')
  @Route({
    auth: 'public',
    limit: SIGN_IN_LIMIT,
    returns: { 201: SessionView },
    errors: [Unauthorized, RateLimited, NotFound],
  })
  async start(
    @Body() body: SignInBody,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SessionView> {
    return this.begun(await this.signIn.execute(body, this.originOf(request)), response);
  }

  /** Opens another workspace of the account; the answer sets the cookie of another session, and this one ends. */
  @Post('session/workspace')
  @Route({
    auth: 'member',
    beforeSecondFactor: true,
    transaction: false,
    // What is to be stopped may be there. No `true`: it may wait, and is not to use up the connections that a kill needs.
    stops: () => true,
    returns: { 201: SessionView },
    errors: [NotFound],
  })
  async openWorkspace(
    @CurrentCaller() caller: Caller,
    @Body() { workspaceId }: OpenWorkspaceBody,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SessionView> {
    return this.begun(await this.signIn.openWorkspace(caller, workspaceId, this.originOf(request)), response);
  }

  /** Who is signed in, with the CSRF token that each change sends back. */
  @Get('session')
  // Without the CSRF token nobody stops anything.
  @Route({ auth: 'member', beforeSecondFactor: true, stops: true, returns: { 200: SessionView } })
  get(@CurrentCaller() caller: Caller, @Req() { headers }: Request): Promise<SessionView> {
    return this.session.read(caller, sessionSecretOf(headers, this.publicAddress.url)!);
  }

  /** Signs out; the answer takes the cookie away. */
  @Delete('session')
  @Route({ auth: 'member', beforeSecondFactor: true, stops: true, returns: { 200: EndedSession } })
  async end(
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<EndedSession> {
    const ended = await this.session.end(caller, caller.credentialId);
    response.setHeader('Set-Cookie', sessionCookie(undefined, this.publicAddress.url));
    return ended;
  }

  /** An operator token of 15 minutes for the dashboard, which calls the API with it; it ends with the session. */
  @Post('operator-token')
  // Somebody who is signed in needs it to use the kill switch. Without a second factor it opens nothing else.
  @Route({
    auth: 'member',
    beforeSecondFactor: true,
    stops: true,
    anew: true,
    returns: { 201: OperatorToken },
  })
  createOperatorToken(@CurrentCaller() caller: Caller): Promise<OperatorToken> {
    return this.sessionToken.issue(caller);
  }

  private originOf(request: Request): Origin {
    return {
      address: clientAddress(request),
      userAgent: request.headers['user-agent'],
      presented: sessionSecretOf(request.headers, this.publicAddress.url),
    };
  }

  private begun({ secret, view }: StartedSession, response: Response): SessionView {
    response.setHeader('Set-Cookie', sessionCookie(secret, this.publicAddress.url));
    return view;
  }
}
