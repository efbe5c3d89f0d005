import { Body, Controller, Get, HttpStatus, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { ACTS, Route } from '../../platform/http/route.js';
import { AlreadyExists, NotFound } from '../../platform/kernel/errors.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { RecordRevenue } from './record-revenue.js';
import { RevenueEvents } from './revenue-events.repository.js';
import { RecordedRevenue, RecordRevenueBody, RevenueEventPage, RevenueEventsQuery } from './revenue.dto.js';

@ApiTags('revenueEvents')
@Controller('api/pro/revenue-events')
export class RevenueController {
  constructor(
    private readonly recordRevenue: RecordRevenue,
    private readonly revenue: RevenueEvents,
  ) {}

  /** What was earned, the latest first, of what the caller may see. */
  @Get()
  @Route({
    auth: 'member',
    replica: true,
    limit: specified('/api/pro/revenue-events'),
    returns: { 200: RevenueEventPage },
  })
  list(@CurrentCaller() caller: Caller, @Query() query: RevenueEventsQuery): Promise<RevenueEventPage> {
    return this.revenue.list(scopeOf(caller), query);
  }

  /** Logs a revenue event; one that was reported before is answered as it was recorded. */
  @Post()
  @Route({
    ...ACTS,
    limit: specified('/api/pro/revenue-events'),
    returns: { 201: RecordedRevenue, 200: RecordedRevenue },
    errors: [AlreadyExists, NotFound],
  })
  async record(
    @CurrentCaller() caller: Caller,
    @Body() body: RecordRevenueBody,
    @Res({ passthrough: true }) response: Response,
  ): Promise<RecordedRevenue> {
    const recorded = await this.recordRevenue.execute(caller, body);
    response.status(recorded.duplicate ? HttpStatus.OK : HttpStatus.CREATED);
    return recorded;
  }
}
