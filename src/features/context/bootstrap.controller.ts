import { Controller, Get } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { BootstrapView } from './bootstrap.dto.js';
import { BootstrapReader } from './bootstrap.reader.js';

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
