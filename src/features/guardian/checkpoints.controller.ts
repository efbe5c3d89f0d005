import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { PageQuery } from '../../platform/kernel/pages.dto.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { CHECKPOINT_PARAM, CheckpointPage, CheckpointView, TakeCheckpointBody } from './checkpoint.dto.js';
import { summaryOf, viewOf } from './checkpoint-view.js';
import { Checkpoints } from './checkpoints.repository.js';
import { TakeCheckpoint } from './take-checkpoint.js';

@Controller(['api/pro/guardian/checkpoint', 'api/admin/guardian/checkpoint'])
export class CheckpointsController {
  constructor(
    private readonly checkpoints: Checkpoints,
    private readonly takeCheckpoint: TakeCheckpoint,
  ) {}

  /** Takes a checkpoint that a revert can go back to. */
  @Post()
  @Route({
    auth: 'member',
    role: 'operator',
    limit: specified('/api/pro/guardian/checkpoint'),
    returns: { 201: CheckpointView },
    errors: [InvalidTransition],
  })
  async take(@CurrentCaller() caller: Caller, @Body() body: TakeCheckpointBody): Promise<CheckpointView> {
    const checkpointId = await this.takeCheckpoint.execute(actorOf(caller), { label: body.label ?? null });
    return this.read(caller, checkpointId);
  }

  /** The checkpoints, newest first, without what they hold. */
  @Get()
  @Route({
    auth: 'member',
    limit: specified('/api/pro/guardian/checkpoint'),
    returns: { 200: CheckpointPage },
  })
  async list(@CurrentCaller() caller: Caller, @Query() query: PageQuery): Promise<CheckpointPage> {
    const page = await this.checkpoints.list(scopeOf(caller), query);
    return { ...page, items: page.items.map(summaryOf) };
  }

  /** One checkpoint with what it holds. */
  @ApiParam(CHECKPOINT_PARAM)
  @Get(':checkpointId')
  @Route({ auth: 'member', returns: { 200: CheckpointView }, errors: [NotFound] })
  get(@CurrentCaller() caller: Caller, @Param('checkpointId') id: string): Promise<CheckpointView> {
    return this.read(caller, id);
  }

  private async read(caller: Caller, checkpointId: string): Promise<CheckpointView> {
    const scope = scopeOf(caller);
    const checkpoint = await this.checkpoints.get(scope, checkpointId);
    return viewOf(checkpoint, await this.checkpoints.visibleOrders(scope, checkpoint.snapshot.orders));
  }
}
