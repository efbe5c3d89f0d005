import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { PageQuery } from '../../platform/kernel/pages.dto.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { REVERT_PARAM, RevertAnswer, RevertBody, RevertView } from './revert.dto.js';
import { RevertService } from './revert.service.js';

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
