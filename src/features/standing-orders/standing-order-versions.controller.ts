import { Body, Controller, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { PageQuery } from '../../platform/kernel/pages.dto.js';
import { SimulationRequired } from './activation-examination.js';
import { ReviseStandingOrder } from './revise-standing-order.js';
import { RollBackStandingOrder } from './roll-back-standing-order.js';
import { versionSummaryOf, versionViewOf } from './standing-order-view.js';
import {
  ReviseStandingOrderBody,
  RollBackStandingOrderBody,
  STANDING_ORDER_PARAM,
  StandingOrderVersionPage,
  StandingOrderVersionView,
  StandingOrderView,
  VERSION_PARAM,
} from './standing-orders.dto.js';
import { StandingOrders } from './standing-orders.repository.js';

const VERSION = /^[1-9]\d{0,8}$/;

@Controller('api/pro/standing-orders/:standingOrderId')
export class StandingOrderVersionsController {
  constructor(
    private readonly orders: StandingOrders,
    private readonly reviseOrder: ReviseStandingOrder,
    private readonly rollBackOrder: RollBackStandingOrder,
  ) {}

  /** Changes a standing order, as its next version; what may let more through than before takes the rights of a new order. */
  @ApiParam(STANDING_ORDER_PARAM)
  @Patch()
  @Route({
    auth: 'member',
    role: 'operator',
    teamRole: true,
    returns: { 200: StandingOrderView },
    errors: [NotFound, InvalidTransition, SimulationRequired],
  })
  revise(
    @CurrentCaller() caller: Caller,
    @Param('standingOrderId') id: string,
    @Body() body: ReviseStandingOrderBody,
  ): Promise<StandingOrderView> {
    return this.reviseOrder.execute(caller, id, body);
  }

  /** The versions of a standing order, newest first. */
  @ApiParam(STANDING_ORDER_PARAM)
  @Get('versions')
  @Route({ auth: 'member', returns: { 200: StandingOrderVersionPage }, errors: [NotFound] })
  async list(
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
  @Route({ auth: 'member', returns: { 200: StandingOrderVersionView }, errors: [NotFound] })
  async read(
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
  @Post('rollback')
  @Route({
    auth: 'member',
    role: 'operator',
    teamRole: true,
    returns: { 200: StandingOrderView },
    errors: [NotFound, InvalidTransition, SimulationRequired],
  })
  rollBack(
    @CurrentCaller() caller: Caller,
    @Param('standingOrderId') id: string,
    @Body() body: RollBackStandingOrderBody,
  ): Promise<StandingOrderView> {
    return this.rollBackOrder.execute(caller, id, body);
  }
}
