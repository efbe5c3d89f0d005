import { Controller, Get, Headers, Query, Res } from '@nestjs/common';
import { ApiTags, ApiHeader, ApiResponse } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { isKnown } from '../../platform/http/negotiated.js';
import { Route } from '../../platform/http/route.js';
import { sha256 } from '../../platform/kernel/canonical-json.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { WorkspaceMetricsView, KpiQuery, KpiView } from './kpi.dto.js';
import { WorkspaceMetricsReader } from './kpi-figures.reader.js';
import { KpiService } from './kpi.service.js';

@ApiTags('metrics')
@Controller('api/pro/metrics')
export class WorkspaceMetricsController {
  constructor(private readonly metrics: WorkspaceMetricsReader) {}

  /** Revenue and performance metrics. */
  @Get()
  @Route({
    auth: 'member',
    replica: true,
    limit: specified('/api/pro/metrics'),
    returns: { 200: WorkspaceMetricsView },
  })
  get(@CurrentCaller() caller: Caller): Promise<WorkspaceMetricsView> {
    return this.metrics.read(scopeOf(caller));
  }
}

/**
 * The view asks again every 60 seconds (SPECIFICATION, Limits): what another part of a page has read within half of that is
 * shown as it is, and each of those calls comes through, as a question whether anything has changed.
 */
const CACHE_CONTROL = 'private, max-age=30, must-revalidate';

/** Who asks decides what is answered. */
const VARY = 'x-service-token, Authorization';

@Controller('api/pro/kpi')
export class KpiController {
  constructor(private readonly kpi: KpiService) {}

  /** Six tiles, each with the last 30 days of the workspace's zone, for one team or for all that the caller may see. */
  @ApiHeader({
    name: 'if-none-match',
    required: false,
    description: 'The ETag of an answer: while no tile has changed since, the answer is an empty 304.',
    schema: { type: 'string', example: 'W/"5d41402abc4b2a76b9719d911017c592"' },
  })
  @ApiResponse({ status: 304, description: 'No tile has changed.' })
  @Get()
  @Route({ auth: 'member', replica: true, returns: { 200: KpiView }, errors: [NotFound] })
  async get(
    @CurrentCaller() caller: Caller,
    @Query() { teamId }: KpiQuery,
    @Res() response: Response,
    @Headers('if-none-match') ifNoneMatch?: string,
  ): Promise<void> {
    const view = await this.kpi.read(caller, teamId);
    const tag = tagOf(view);
    response.setHeader('Cache-Control', CACHE_CONTROL).setHeader('ETag', tag).vary(VARY);
    if (isKnown(tag, ifNoneMatch)) response.status(304).end();
    else response.json(view);
  }
}

/** A weak one: two answers with the same numbers differ in when, and how fast, they were computed. */
function tagOf({ generatedAt: _at, computedInMs: _took, ...numbers }: KpiView): string {
  return `W/"${sha256(JSON.stringify(numbers)).slice(0, 32)}"`;
}
