import { Body, Controller, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { ACTS, Route } from '../../platform/http/route.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { PreflightBody, PreflightView } from './preflight.dto.js';
import { PreflightService } from './preflight.service.js';

@ApiTags('guardian')
@Controller('api/pro/guardian')
export class PreflightController {
  constructor(private readonly service: PreflightService) {}

  /** Tells what would happen with a directive or an action, and why; it changes nothing. */
  @Post('preflight')
  @Route({
    ...ACTS,
    limit: specified('/api/pro/guardian/preflight'),
    // Nothing is written, so there is nothing that could be done twice.
    transaction: false,
    returns: { 200: PreflightView },
    errors: [NotFound],
  })
  preflight(@CurrentCaller() caller: Caller, @Body() body: PreflightBody): Promise<PreflightView> {
    return this.service.ask(caller, body);
  }
}
