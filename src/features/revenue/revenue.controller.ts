import { Body, Controller, Post } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { AlreadyExists } from '../../platform/kernel/errors.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { RecordRevenue } from './record-revenue.js';
import { RecordRevenueBody, RevenueEventView } from './revenue.dto.js';

@Controller('api/pro/revenue-events')
export class RevenueController {
  constructor(private readonly recordRevenue: RecordRevenue) {}

  /** Logs a revenue event. */
  @Post()
  @Route({
    auth: 'token',
    role: 'operator',
    limit: specified('/api/pro/revenue-events'),
    returns: { 201: RevenueEventView },
    errors: [AlreadyExists],
  })
  record(@CurrentCaller() caller: Caller, @Body() body: RecordRevenueBody): Promise<RevenueEventView> {
    return this.recordRevenue.execute(caller, body);
  }
}
