import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import {
  DELIVERY_PARAM,
  DeliveriesQuery,
  DeliveryPage,
  DeliveryView,
  RedeliverBody,
} from './deliveries.dto.js';
import { DESTINATION_PARAM, destinationPaths } from './destinations.dto.js';
import { Deliveries } from './deliveries.repository.js';
import { DeliveryService } from './delivery.service.js';

@Controller()
export class DeliveriesController {
  constructor(
    private readonly deliveries: Deliveries,
    private readonly service: DeliveryService,
  ) {}

  /** The deliveries to a destination with every attempt, newest first; also to one that was deleted. */
  @ApiParam(DESTINATION_PARAM)
  @Get(destinationPaths('/deliveries'))
  @Route({ auth: 'member', replica: true, role: 'admin', returns: { 200: DeliveryPage }, errors: [NotFound] })
  list(
    @CurrentCaller() caller: Caller,
    @Param('id') destinationId: string,
    @Query() query: DeliveriesQuery,
  ): Promise<DeliveryPage> {
    return this.deliveries.list(scopeOf(caller), destinationId, query);
  }

  /** One delivery with every attempt and what the receiver answered. */
  @ApiParam(DELIVERY_PARAM)
  @Get(['api/pro/deliveries/:id', 'api/admin/deliveries/:id'])
  @Route({ auth: 'member', replica: true, role: 'admin', returns: { 200: DeliveryView }, errors: [NotFound] })
  get(@CurrentCaller() caller: Caller, @Param('id') deliveryId: string): Promise<DeliveryView> {
    return this.deliveries.get(scopeOf(caller), deliveryId);
  }

  /** Sends the event of a delivery once more, as a new delivery; one that is still tried by itself is tried at once instead. */
  @ApiParam(DELIVERY_PARAM)
  @Post(['api/pro/deliveries/:id/redeliver', 'api/admin/deliveries/:id/redeliver'])
  @Route({
    auth: 'member',
    role: 'admin',
    returns: { 202: DeliveryView },
    errors: [NotFound, InvalidTransition],
  })
  redeliver(
    @CurrentCaller() caller: Caller,
    @Param('id') deliveryId: string,
    @Body() body: RedeliverBody,
  ): Promise<DeliveryView> {
    return this.service.redeliver(caller, deliveryId, body);
  }
}
