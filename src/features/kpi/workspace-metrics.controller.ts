import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { WorkspaceMetricsView } from './workspace-metrics.dto.js';
import { WorkspaceMetricsReader } from './workspace-metrics.reader.js';

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
