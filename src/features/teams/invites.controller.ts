import { Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import { INVITE_PARAM, InvitePage, InvitesQuery, InviteView } from './invites.dto.js';
import { Invites } from './invites.repository.js';
import { ResendInvite } from './resend-invite.js';
import { WithdrawInvite } from './withdraw-invite.js';

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
