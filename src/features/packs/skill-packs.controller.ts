import { Body, Controller, Delete, Get, HttpStatus, Param, Post, Query, Res } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { Response } from 'express';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { AlreadyExists, InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { PackRemoval } from './pack-removal.js';
import {
  InvalidPackSignature,
  PackRevoked,
  PackVersionTaken,
  TooManyPacks,
  UnknownPublisher,
} from './packs.errors.js';
import {
  InstallSkillPackBody,
  PACK_PARAM,
  SkillPackPage,
  SkillPacksQuery,
  SkillPackView,
} from './skill-packs.dto.js';
import { SkillPacks } from './skill-packs.repository.js';
import { SkillPacksService } from './skill-packs.service.js';

@Controller('api/pro/skill-packs')
export class SkillPacksController {
  constructor(
    private readonly packs: SkillPacks,
    private readonly service: SkillPacksService,
    private readonly removal: PackRemoval,
  ) {}

  /** Installs a skill pack, or a later version: its skills, and its orders as drafts, arrive in the background. */
  @Post()
  @Route({
    auth: 'member',
    role: 'admin',
    limit: specified('/api/pro/skill-packs'),
    returns: { 202: SkillPackView, 200: SkillPackView },
    errors: [
      AlreadyExists,
      InvalidPackSignature,
      InvalidTransition,
      PackRevoked,
      PackVersionTaken,
      TooManyPacks,
      UnknownPublisher,
    ],
  })
  async install(
    @CurrentCaller() caller: Caller,
    @Body() body: InstallSkillPackBody,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SkillPackView> {
    const { packId, isAccepted } = await this.service.install(caller, body);
    response.status(isAccepted ? HttpStatus.ACCEPTED : HttpStatus.OK);
    response.location(`/api/pro/skill-packs/${packId}`);
    return this.service.read(scopeOf(caller), packId);
  }

  /** The skill packs that the workspace has or had, the one that was installed last first. */
  @Get()
  @Route({
    auth: 'member',
    replica: true,
    limit: specified('/api/pro/skill-packs'),
    returns: { 200: SkillPackPage },
  })
  list(@CurrentCaller() caller: Caller, @Query() query: SkillPacksQuery): Promise<SkillPackPage> {
    return this.packs.list(scopeOf(caller), query);
  }

  /** One skill pack with what it contains, and how far its installation has got. */
  @ApiParam(PACK_PARAM)
  @Get(':packId')
  @Route({ auth: 'member', replica: true, returns: { 200: SkillPackView }, errors: [NotFound] })
  get(@CurrentCaller() caller: Caller, @Param('packId') packId: string): Promise<SkillPackView> {
    return this.service.read(scopeOf(caller), packId);
  }

  /** Uninstalls a skill pack: its standing orders are archived, active ones too, and its skills reach no further draft. */
  @ApiParam(PACK_PARAM)
  @Delete(':packId')
  @Route({ auth: 'member', role: 'admin', returns: { 200: SkillPackView }, errors: [NotFound] })
  async uninstall(@CurrentCaller() caller: Caller, @Param('packId') packId: string): Promise<SkillPackView> {
    await this.removal.uninstall(actorOf(caller), packId);
    return this.service.read(scopeOf(caller), packId);
  }
}
