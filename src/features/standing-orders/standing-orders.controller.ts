import { Body, Controller, Get, Headers, Param, Patch, Post, Query, Delete, Res } from '@nestjs/common';
import { ApiHeader, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Caller, scopeOf, seesWholeWorkspace } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { namedByIfMatch } from '../../platform/http/negotiated.js';
import { ACTS, Route } from '../../platform/http/route.js';
import {
  ContentChanged,
  InvalidTransition,
  NotFound,
  PreconditionRequired,
  Unavailable,
} from '../../platform/kernel/errors.js';
import { PageQuery } from '../../platform/kernel/pages.dto.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { OrderSimulation } from './simulation/order-simulation.js';
import { SimulationView } from './simulation/simulation.dto.js';
import { SimulationRequired } from './activation-examination.js';
import { StandingOrderVersions } from './new-order-version.js';
import { versionSummaryOf, versionViewOf, summaryOf, viewOf } from './standing-order-view.js';
import {
  StandingOrderVersionPage,
  StandingOrderVersionView,
  VERSION_PARAM,
  ORDER_IF_MATCH,
  ReviseStandingOrderBody,
  RollBackStandingOrderBody,
  STANDING_ORDER_PARAM,
  StandingOrderView,
  ActivateStandingOrderBody,
  CreateStandingOrderBody,
  StandingOrderPage,
  StandingOrderQuery,
  StandingOrdersQuery,
  NewStandingOrderView,
  OneStandingOrderView,
} from './standing-orders.dto.js';
import { StandingOrders } from './standing-orders.repository.js';
import { VersionChanged } from './order-content.js';
import { StandingOrderService } from './standing-orders.service.js';
import { StandingOrderUses } from './standing-order-uses.repository.js';

const VERSION = /^[1-9]\d{0,8}$/;

@ApiTags('standingOrders')
@Controller('api/pro/standing-orders/:standingOrderId')
export class StandingOrderVersionsController {
  constructor(
    private readonly orders: StandingOrders,
    private readonly versions: StandingOrderVersions,
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
    return this.versions.revise(caller, id, body, namedByIfMatch(ifMatch));
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
    return this.versions.rollBack(caller, id, body, namedByIfMatch(ifMatch));
  }
}

@Controller('api/pro/standing-orders')
export class StandingOrdersController {
  constructor(
    private readonly orders: StandingOrders,
    private readonly uses: StandingOrderUses,
    private readonly orderService: StandingOrderService,
    private readonly simulation: OrderSimulation,
  ) {}

  /** Creates a standing order, which decides at once unless it is to be a draft, or its simulation or its safety eval speaks against it. */
  @Post()
  @Route({
    ...ACTS,
    limit: specified('/api/pro/standing-orders'),
    returns: { 201: NewStandingOrderView },
    errors: [NotFound],
  })
  async create(
    @CurrentCaller() caller: Caller,
    @Body() body: CreateStandingOrderBody,
    @Res({ passthrough: true }) response: Response,
  ): Promise<NewStandingOrderView> {
    const order = await this.orderService.create(caller, body);
    response.location(`/api/pro/standing-orders/${order.standingOrderId}`);
    return order;
  }

  /** The standing orders the caller may see, newest first; the active ones unless another status, or `all`, is asked for. */
  @Get()
  @Route({
    auth: 'member',
    replica: true,
    limit: specified('/api/pro/standing-orders'),
    returns: { 200: StandingOrderPage },
  })
  async list(
    @CurrentCaller() caller: Caller,
    @Query() query: StandingOrdersQuery,
  ): Promise<StandingOrderPage> {
    const page = await this.orders.list(scopeOf(caller), query);
    return { ...page, items: page.items.map((order) => summaryOf(order, caller)) };
  }

  /** One standing order, whatever its status. */
  @ApiParam(STANDING_ORDER_PARAM)
  @Get(':standingOrderId')
  @Route({ auth: 'member', replica: true, returns: { 200: OneStandingOrderView }, errors: [NotFound] })
  async get(
    @CurrentCaller() caller: Caller,
    @Param('standingOrderId') id: string,
    @Query() { include }: StandingOrderQuery,
  ): Promise<OneStandingOrderView> {
    const order = await this.orders.get(scopeOf(caller), id);
    if (include === undefined) return viewOf(order, caller);
    const mayCount = order.teamId !== null || seesWholeWorkspace(caller);
    return { ...viewOf(order, caller), used: mayCount ? await this.uses.used(scopeOf(caller), id) : null };
  }

  /** Says what the order would have done to every decision of the past, and changes nothing else. */
  @ApiParam(STANDING_ORDER_PARAM)
  @Post(':standingOrderId/simulate')
  @Route({
    ...ACTS,
    returns: { 200: SimulationView },
    errors: [NotFound, Unavailable],
  })
  simulate(@CurrentCaller() caller: Caller, @Param('standingOrderId') id: string): Promise<SimulationView> {
    return this.simulation.simulate(caller, id);
  }

  /** Lets an order decide, or tries it out; where its simulation or its safety eval speaks against it, an owner acknowledges that. */
  @ApiParam(STANDING_ORDER_PARAM)
  @ApiHeader(ORDER_IF_MATCH)
  @Post(':standingOrderId/activate')
  @Route({
    auth: 'member',
    role: 'admin',
    teamRole: true,
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
  activate(
    @CurrentCaller() caller: Caller,
    @Param('standingOrderId') id: string,
    @Body() body: ActivateStandingOrderBody,
    @Headers('if-match') ifMatch?: string,
  ): Promise<StandingOrderView> {
    const hash = namedByIfMatch(ifMatch);
    if (body.shadow === true) return this.orderService.shadow(caller, id, { version: body.version, hash });
    return this.orderService.activate(caller, id, body, hash);
  }

  /** Silences an order until it is activated again; one that tightens takes an admin. */
  @ApiParam(STANDING_ORDER_PARAM)
  @Post(':standingOrderId/pause')
  @Route({
    ...ACTS,
    stops: true,
    returns: { 200: StandingOrderView },
    errors: [NotFound, InvalidTransition],
  })
  pause(@CurrentCaller() caller: Caller, @Param('standingOrderId') id: string): Promise<StandingOrderView> {
    return this.orderService.pause(caller, id);
  }

  /** Archives a standing order. */
  @ApiParam(STANDING_ORDER_PARAM)
  @Delete(':standingOrderId')
  @Route({
    auth: 'member',
    role: 'admin',
    teamRole: true,
    returns: { 200: StandingOrderView },
    errors: [NotFound],
  })
  archive(@CurrentCaller() caller: Caller, @Param('standingOrderId') id: string): Promise<StandingOrderView> {
    return this.orderService.archive(caller, id);
  }
}
