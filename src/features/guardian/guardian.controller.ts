import { Body, Controller, Get, Param, Post, Put, Query } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { ACTS, Route } from '../../platform/http/route.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { PageQuery } from '../../platform/kernel/pages.dto.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { GuardianHalted } from '../terms/index.js';
import { CheckpointService, summaryOf } from './checkpoint.service.js';
import { Checkpoints } from './checkpoints.repository.js';
import {
  CHECKPOINT_PARAM,
  GuardianCheckpointPage,
  GuardianCheckpointView,
  GuardianView,
  KillAnswer,
  KillBody,
  ModeBody,
  TakeCheckpointBody,
} from './guardian.dto.js';
import { viewOf } from './guardian.js';
import { GuardianService } from './guardian.service.js';
import { Guardians } from './guardians.repository.js';
import { HaltableWork } from './halting.js';
import { REVERT_PARAM, RevertAnswer, RevertBody, RevertView } from './revert.dto.js';
import { RevertService } from './revert.service.js';

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

@Controller('api/pro/guardian')
export class GuardianController {
  constructor(
    private readonly guardians: Guardians,
    private readonly work: HaltableWork,
    private readonly clock: Clock,
    private readonly guardian: GuardianService,
  ) {}

  /** The guardian's mode and what it holds back. */
  @Get()
  @Route({ auth: 'member', returns: { 200: GuardianView } })
  async get(@CurrentCaller() caller: Caller): Promise<GuardianView> {
    const scope = scopeOf(caller);
    const [guardian, heldBack] = await Promise.all([
      this.guardians.read(scope),
      this.work.heldBack(scope, this.clock.now()),
    ]);
    return viewOf(guardian, heldBack);
  }

  /** Halts all autonomous operations of the workspace. */
  @Post(['kill-switch', 'killswitch'])
  @Route({
    ...ACTS,
    // Anyone who may act may stop, be it in one team alone.
    limit: specified('/api/pro/guardian/killswitch'),
    stops: true,
    // A member who still has to set up a second factor may use the kill switch.
    beforeSecondFactor: true,
    anew: true,
    returns: { 200: KillAnswer },
  })
  kill(@CurrentCaller() caller: Caller, @Body() body: KillBody): Promise<KillAnswer> {
    return this.guardian.kill(caller, body.reason ?? null);
  }

  /** Sets how much the guardian lets pass. */
  @Put('mode')
  @Route({
    auth: 'member',
    role: 'admin',
    stops: ({ mode }) => mode === 'observe',
    returns: { 200: GuardianView },
    errors: [GuardianHalted],
  })
  setMode(@CurrentCaller() caller: Caller, @Body() body: ModeBody): Promise<GuardianView> {
    return this.guardian.setMode(caller, body.mode);
  }
}

@ApiTags('guardian')
@Controller('api/pro/guardian')
export class RevertsController {
  constructor(private readonly reverts: RevertService) {}

  /** Restores operation after a kill: as it was, as it was at a checkpoint, or with what was carried out since undone. */
  @Post('revert')
  @Route({
    auth: 'member',
    role: 'admin',
    limit: specified('/api/pro/guardian/revert'),
    returns: { 200: RevertAnswer },
    errors: [InvalidTransition, NotFound],
  })
  revert(@CurrentCaller() caller: Caller, @Body() body: RevertBody): Promise<RevertAnswer> {
    return this.reverts.revert(caller, body);
  }

  /** One revert, and what becomes of each work packet that it undoes. */
  @ApiParam(REVERT_PARAM)
  @Get('reverts/:revertId')
  @Route({ auth: 'member', role: 'admin', returns: { 200: RevertView }, errors: [NotFound] })
  getRevert(
    @CurrentCaller() caller: Caller,
    @Param('revertId') id: string,
    @Query() query: PageQuery,
  ): Promise<RevertView> {
    return this.reverts.read(scopeOf(caller), id, query);
  }
}
