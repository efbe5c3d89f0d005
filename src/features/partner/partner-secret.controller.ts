import { Controller, Get, Post } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { PartnerSecretView } from './partner-secret.dto.js';
import { RotatePartnerSecret } from './rotate-partner-secret.js';
import { ShowPartnerSecret } from './show-partner-secret.js';

/** What the workspace shares with the partner persona service. */
@Controller('api/admin/partner-secret')
export class PartnerSecretController {
  constructor(
    private readonly showPartnerSecret: ShowPartnerSecret,
    private readonly rotatePartnerSecret: RotatePartnerSecret,
  ) {}

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
    return this.showPartnerSecret.execute(caller);
  }

  /** Makes another secret, or the first one; only the one before it is accepted as well, for 24 hours. */
  @Post('rotate')
  @Route({ auth: 'member', role: 'admin', secretAnswer: true, returns: { 200: PartnerSecretView } })
  rotate(@CurrentCaller() caller: Caller): Promise<PartnerSecretView> {
    return this.rotatePartnerSecret.execute(caller.workspaceId, actorOf(caller));
  }
}
