import { Controller, Get } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { ContextView } from './context.dto.js';
import { ContextReader } from './context.reader.js';

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
