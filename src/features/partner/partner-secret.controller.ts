import { Controller, Get, Post } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { PartnerSecretService } from './partner-secret.service.js';
import { PartnerSecretView } from './partner.dto.js';

/** What the workspace shares with the partner persona service. */
@Controller('api/admin/partner-secret')
export class PartnerSecretController {
  constructor(private readonly secret: PartnerSecretService) {}

  /** Shows the secret that the partner signs with; that it was shown is recorded. */
  @Get()
  @Route({
    auth: 'member',
    role: 'admin',
    // It leaves a receipt, so a read has a transaction here.
    transaction: true,
    anew: true,
    returns: { 200: PartnerSecretView },
    errors: [NotFound, InvalidTransition],
  })
  get(@CurrentCaller() caller: Caller): Promise<PartnerSecretView> {
    return this.secret.show(caller);
  }

  /** Makes another secret, or the first one; only the one before it is accepted as well, for 24 hours. */
  @Post('rotate')
  @Route({ auth: 'member', role: 'admin', secretAnswer: true, returns: { 200: PartnerSecretView } })
  rotate(@CurrentCaller() caller: Caller): Promise<PartnerSecretView> {
    return this.secret.rotate(caller.workspaceId, actorOf(caller));
  }
}
