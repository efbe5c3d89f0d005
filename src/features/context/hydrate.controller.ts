import { Body, Controller, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { HydrateBody, Hydration } from './hydrate.dto.js';
import { HydrateService } from './hydrate.service.js';

@ApiTags('local')
@Controller('api/local/hydrate')
export class HydrateController {
  constructor(private readonly service: HydrateService) {}

  /** All that a client needs to work offline, and the receipts that it has missed since it was here last. */
  @Post()
  @Route({
    auth: 'member',
    scope: 'read',
    limit: specified('/api/local/hydrate'),
    // What is missed differs from call to call, and an answer may have 2 MB.
    anew: true,
    returns: { 200: Hydration },
  })
  hydrate(@CurrentCaller() caller: Caller, @Body() body: HydrateBody): Promise<Hydration> {
    return this.service.hydrate(caller, body);
  }
}
