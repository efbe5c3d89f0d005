import { Body, Controller, Get, Headers, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiHeader, ApiParam, ApiTags } from '@nestjs/swagger';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { namedByIfMatch } from '../../platform/http/entity-tag.js';
import { ACTS, Route } from '../../platform/http/route.js';
import {
  ContentChanged,
  InvalidTransition,
  NotFound,
  PreconditionRequired,
} from '../../platform/kernel/errors.js';
import { PageQuery } from '../../platform/kernel/pages.dto.js';
import { SimulationRequired } from './activation-examination.js';
import { ReviseStandingOrder } from './revise-standing-order.js';
import { RollBackStandingOrder } from './roll-back-standing-order.js';
import { versionSummaryOf, versionViewOf } from './standing-order-view.js';
import {
  StandingOrderVersionPage,
  StandingOrderVersionView,
  VERSION_PARAM,
} from './standing-order-versions.dto.js';
import {
  ORDER_IF_MATCH,
  ReviseStandingOrderBody,
  RollBackStandingOrderBody,
  STANDING_ORDER_PARAM,
  StandingOrderView,
} from './standing-orders.dto.js';
import { StandingOrders } from './standing-orders.repository.js';
import { VersionChanged } from './version-read.js';

const VERSION = /^[1-9]\d{0,8}$/;

@ApiTags('standingOrders')
@Controller('api/pro/standing-orders/:standingOrderId')
export class StandingOrderVersionsController {
  constructor(
    private readonly orders: StandingOrders,
    private readonly reviseOrder: ReviseStandingOrder,
    private readonly rollBackOrder: RollBackStandingOrder,
  ) {}

  /** Changes a standing order, as its next version; what may let more through than before takes the rights of a new order. */
  @ApiParam(STANDING_ORDER_PARAM)
  @ApiHeader(ORDER_IF_MATCH)
  @Patch()
  @Route({
    ...ACTS,
    returns: { 200: StandingOrderView },
    errors: [
      NotFound,
      InvalidTransition,
      SimulationRequired,
      VersionChanged,
      ContentChanged,
      PreconditionRequired,
    ],
  })
  update(
    @CurrentCaller() caller: Caller,
    @Param('standingOrderId') id: string,
    @Body() body: ReviseStandingOrderBody,
    @Headers('if-match') ifMatch?: string,
  ): Promise<StandingOrderView> {
    return this.reviseOrder.execute(caller, id, body, namedByIfMatch(ifMatch));
  }

  /** The versions of a standing order, newest first. */
  @ApiParam(STANDING_ORDER_PARAM)
  @Get('versions')
  @Route({ auth: 'member', replica: true, returns: { 200: StandingOrderVersionPage }, errors: [NotFound] })
  async listVersions(
    @CurrentCaller() caller: Caller,
    @Param('standingOrderId') id: string,
    @Query() query: PageQuery,
  ): Promise<StandingOrderVersionPage> {
    const scope = scopeOf(caller);
    const order = await this.orders.get(scope, id);
    const page = await this.orders.listVersions(scope, id, query);
    return { ...page, items: page.items.map((version) => versionSummaryOf(version, order)) };
  }

  /** One version of a standing order, with its rule. */
  @ApiParam(STANDING_ORDER_PARAM)
  @ApiParam(VERSION_PARAM)
  @Get('versions/:version')
  @Route({ auth: 'member', replica: true, returns: { 200: StandingOrderVersionView }, errors: [NotFound] })
  async getVersion(
    @CurrentCaller() caller: Caller,
    @Param('standingOrderId') id: string,
    @Param('version') version: string,
  ): Promise<StandingOrderVersionView> {
    const scope = scopeOf(caller);
    const order = await this.orders.get(scope, id);
    if (!VERSION.test(version)) throw new NotFound();
    return versionViewOf(await this.orders.getVersion(scope, id, Number(version)), order);
  }

  /** Makes a further version of a standing order, with what one of its former versions said. */
  @ApiParam(STANDING_ORDER_PARAM)
  @ApiHeader(ORDER_IF_MATCH)
  @Post('rollback')
  @Route({
    ...ACTS,
    returns: { 200: StandingOrderView },
    errors: [NotFound, InvalidTransition, SimulationRequired, ContentChanged],
  })
  rollback(
    @CurrentCaller() caller: Caller,
    @Param('standingOrderId') id: string,
    @Body() body: RollBackStandingOrderBody,
    @Headers('if-match') ifMatch?: string,
  ): Promise<StandingOrderView> {
    return this.rollBackOrder.execute(caller, id, body, namedByIfMatch(ifMatch));
  }
}
