import { Body, Controller, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Route } from '../../platform/http/route.js';
import { AlreadyExists, NotFound, WorkspaceReadOnly } from '../../platform/kernel/errors.js';
import { AcceptInvite } from './accept-invite.js';
import { AcceptedInvite, AcceptInviteBody } from './invites.dto.js';
import { AccountExists, InviteAccepted, InviteExpired } from './teams.errors.js';

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
