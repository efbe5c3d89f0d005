import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { Clock } from '../../platform/kernel/clock.js';
import { AlreadyExists, InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { AcceptInvite } from './accept-invite.js';
import {
  AcceptedInvite,
  AcceptInviteBody,
  INVITE_PARAM,
  InvitePage,
  InvitesQuery,
  InviteView,
} from './invites.dto.js';
import { Invites } from './invites.repository.js';
import { ResendInvite } from './resend-invite.js';
import { AccountExists, InviteAccepted, InviteExpired } from './teams.errors.js';
import { WithdrawInvite } from './withdraw-invite.js';

/** Whoever accepts has no token, and each try costs a hash. */
export const ACCEPT_LIMIT = { limit: 10, windowSeconds: 60, bucket: 'accept-invite' };

@Controller('api/pro/invites')
export class InvitesController {
  constructor(
    private readonly invites: Invites,
    private readonly acceptInvite: AcceptInvite,
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

  /** Accepts an invite, whose token stands in the mailed link; the answer shows a token of the member's own, once. */
  @Post('accept')
  @Route({
    auth: 'public',
    limit: ACCEPT_LIMIT,
    returns: { 201: AcceptedInvite },
    errors: [NotFound, InviteAccepted, InviteExpired, AccountExists, AlreadyExists],
  })
  accept(@Body() body: AcceptInviteBody): Promise<AcceptedInvite> {
    return this.acceptInvite.execute(body, 'api');
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
