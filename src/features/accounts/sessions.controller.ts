import { Controller, Delete, Get, Param, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { type Caller, hasRole, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { Clock } from '../../platform/kernel/clock.js';
import { endOf } from './session.js';
import { SessionService } from './session.service.js';
import { EndedSession, SESSION_PARAM, SessionPage, SessionsQuery } from './sessions.dto.js';
import { Sessions } from './sessions.repository.js';

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
