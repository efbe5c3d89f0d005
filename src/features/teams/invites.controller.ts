import { Body, Controller, Post, Delete, Get, Param, Query } from '@nestjs/common';
import { ApiTags, ApiParam } from '@nestjs/swagger';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { Clock } from '../../platform/kernel/clock.js';
import {
  AlreadyExists,
  NotFound,
  WorkspaceReadOnly,
  InvalidTransition,
} from '../../platform/kernel/errors.js';
import { AcceptInvite } from './accept-invite.js';
import {
  AcceptedInvite,
  AcceptInviteBody,
  INVITE_PARAM,
  InvitePage,
  InvitesQuery,
  InviteView,
} from './invites.dto.js';
import { AccountExists, InviteAccepted, InviteExpired } from './teams.errors.js';
import { Invites } from './invites.repository.js';
import { ResendInvite, WithdrawInvite } from './invites.service.js';

/** The caller has no token yet, and each try costs a hash. */
export const ACCEPT_LIMIT = { limit: 10, windowSeconds: 60, bucket: 'accept-invite' };

/** Accepting an invite, which needs no session: it is no part of the admin area, where the other acts on invites stand too. */
@ApiTags('invites')
@Controller('api/pro/invites')
export class AcceptanceController {
  constructor(private readonly acceptInvite: AcceptInvite) {}

  /** Accepts an invite, whose token stands in the mailed link; the answer shows a token of the member's own, once. */
  @Post('accept')
  @Route({
    auth: 'public',
    limit: ACCEPT_LIMIT,
    returns: { 201: AcceptedInvite },
    errors: [NotFound, InviteAccepted, InviteExpired, AccountExists, AlreadyExists, WorkspaceReadOnly],
  })
  accept(@Body() body: AcceptInviteBody): Promise<AcceptedInvite> {
    return this.acceptInvite.execute(body, 'api', true);
  }
}

@Controller(['api/pro/invites', 'api/admin/invites'])
export class InvitesController {
  constructor(
    private readonly invites: Invites,
    private readonly resendInvite: ResendInvite,
    private readonly withdrawInvite: WithdrawInvite,
    private readonly clock: Clock,
  ) {}

  /** Invites to the teams whose admin the caller is; owner and admin of the workspace see all. */
  @Get()
  @Route({ auth: 'member', role: 'admin', teamRole: true, stops: true, returns: { 200: InvitePage } })
  list(@CurrentCaller() caller: Caller, @Query() query: InvitesQuery): Promise<InvitePage> {
    return this.invites.list(caller, query, this.clock.now());
  }

  /** Sends an invite again, with a new link; the one before opens nothing any more. */
  @ApiParam(INVITE_PARAM)
  @Post(':id/resend')
  @Route({
    auth: 'member',
    role: 'admin',
    teamRole: true,
    changesMembership: true,
    returns: { 200: InviteView },
    errors: [InvalidTransition],
  })
  resend(@CurrentCaller() caller: Caller, @Param('id') inviteId: string): Promise<InviteView> {
    return this.resendInvite.execute(caller, inviteId);
  }

  /** Withdraws an invite; its link opens nothing any more. */
  @ApiParam(INVITE_PARAM)
  @Delete(':id')
  @Route({
    auth: 'member',
    role: 'admin',
    teamRole: true,
    changesMembership: true,
    stops: true,
    returns: { 200: InviteView },
    errors: [InvalidTransition],
  })
  withdraw(@CurrentCaller() caller: Caller, @Param('id') inviteId: string): Promise<InviteView> {
    return this.withdrawInvite.execute(caller, inviteId);
  }
}
