import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { PageQuery } from '../../platform/kernel/pages.dto.js';
import { specified } from '../../platform/rate-limit/limits.js';
import {
  CHECKPOINT_PARAM,
  GuardianCheckpointPage,
  GuardianCheckpointView,
  TakeCheckpointBody,
} from './checkpoint.dto.js';
import { Checkpoints } from './checkpoints.repository.js';
import { CheckpointService, summaryOf } from './checkpoint.service.js';

@Controller('api/pro/guardian/checkpoint')
export class CheckpointsController {
  constructor(
    private readonly checkpoints: Checkpoints,
    private readonly service: CheckpointService,
  ) {}

  /** Takes a checkpoint that a revert can go back to. */
  @Post()
  @Route({
    auth: 'member',
    role: 'operator',
    limit: specified('/api/pro/guardian/checkpoint'),
    returns: { 201: GuardianCheckpointView },
    errors: [InvalidTransition],
  })
  async create(
    @CurrentCaller() caller: Caller,
    @Body() body: TakeCheckpointBody,
  ): Promise<GuardianCheckpointView> {
    const checkpointId = await this.service.take(actorOf(caller), { label: body.label ?? null });
    return this.service.read(caller, checkpointId);
  }

  /** The checkpoints, newest first, without what they hold. */
  @Get()
  @Route({
    auth: 'member',
    limit: specified('/api/pro/guardian/checkpoint'),
    returns: { 200: GuardianCheckpointPage },
  })
  async list(@CurrentCaller() caller: Caller, @Query() query: PageQuery): Promise<GuardianCheckpointPage> {
    const page = await this.checkpoints.list(scopeOf(caller), query);
    return { ...page, items: page.items.map(summaryOf) };
  }

  /** One checkpoint with what it holds. */
  @ApiParam(CHECKPOINT_PARAM)
  @Get(':checkpointId')
  @Route({ auth: 'member', returns: { 200: GuardianCheckpointView }, errors: [NotFound] })
  get(@CurrentCaller() caller: Caller, @Param('checkpointId') id: string): Promise<GuardianCheckpointView> {
    return this.service.read(caller, id);
  }
}
