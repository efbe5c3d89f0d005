import { Controller, Get, Body, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { BootstrapView, HydrateBody, Hydration, ContextView } from './context.dto.js';
import { BootstrapReader } from './bootstrap.reader.js';
import { HydrateService } from './hydrate.service.js';
import { ContextReader } from './context.reader.js';

@Controller('api/pro/bootstrap')
export class BootstrapController {
  constructor(private readonly bootstrap: BootstrapReader) {}

  /** What a client needs to begin. */
  @Get()
  @Route({ auth: 'member', limit: specified('/api/pro/bootstrap'), returns: { 200: BootstrapView } })
  get(@CurrentCaller() caller: Caller): Promise<BootstrapView> {
    return this.bootstrap.read(caller);
  }
}

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

@Controller('api/pro/context')
export class ContextController {
  constructor(private readonly context: ContextReader) {}

  /** The whole operational context in one call. */
  @Get()
  @Route({ auth: 'member', limit: specified('/api/pro/context'), returns: { 200: ContextView } })
  get(@CurrentCaller() caller: Caller): Promise<ContextView> {
    return this.context.read(caller);
  }
}
