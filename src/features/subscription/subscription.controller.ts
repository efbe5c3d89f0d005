import { Body, Controller, Post } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { Forbidden } from '../../platform/kernel/errors.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { SubscriptionView, VerifySubscriptionBody } from './subscription.dto.js';
import { SubscriptionService } from './subscription.service.js';

@Controller(['api/pro/subscription', 'api/admin/subscription'])
export class SubscriptionController {
  constructor(private readonly service: SubscriptionService) {}

  /** Checks the installed licence, or installs another; no request leaves the service for it. */
  @Post('verify')
  @Route({
    auth: 'member',
    limit: specified('/api/pro/subscription/verify'),
    returns: { 200: SubscriptionView },
    errors: [Forbidden],
  })
  verify(
    @CurrentCaller() caller: Caller,
    @Body() { licenseKey }: VerifySubscriptionBody,
  ): Promise<SubscriptionView> {
    return this.service.verify(caller, licenseKey ?? undefined);
  }
}
