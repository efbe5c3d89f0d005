import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiBody, ApiExtension, ApiParam, ApiTags } from '@nestjs/swagger';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { PageQuery } from '../../platform/kernel/pages.dto.js';
import { specified } from '../../platform/rate-limit/limits.js';
import {
  DeliveriesQuery,
  DELIVERY_PARAM,
  DeliveryPage,
  DeliveryView,
  RedeliverBody,
} from './deliveries.dto.js';
import { Deliveries } from './deliveries.repository.js';
import { DeliveryService } from './delivery.service.js';
import { CheckedDestination, ChecksDestination, type DestinationVerdict } from './destination-check.js';
import { viewOf } from './destination.js';
import { DestinationService } from './destination.service.js';
import {
  ChangeDestinationBody,
  DESTINATION_PARAM,
  DestinationPage,
  destinationPaths,
  DestinationView,
  NewDestination,
  REGISTER_WEBHOOK_EXAMPLES,
  RegisterPartnerWebhookBody,
  RegisterWebhookBody,
  RotatedDestination,
  RotateSecretBody,
} from './destinations.dto.js';
import { Destinations } from './destinations.repository.js';
import { InvalidDestination, TooManyDestinations } from './webhooks.errors.js';

@ApiTags('webhooks')
@Controller()
export class DestinationsController {
  constructor(
    private readonly destinations: Destinations,
    private readonly service: DestinationService,
  ) {}

  /** Registers a destination with a secret of the customer's own. */
  @Post(['api/pro/webhooks', 'api/admin/webhooks'])
  @ApiBody({ type: RegisterWebhookBody, examples: REGISTER_WEBHOOK_EXAMPLES })
  @ChecksDestination(RegisterWebhookBody)
  @Route({
    auth: 'member',
    role: 'admin',
    returns: { 201: DestinationView },
    errors: [InvalidDestination, TooManyDestinations],
  })
  create(
    @CurrentCaller() caller: Caller,
    @Body() body: RegisterWebhookBody,
    @CheckedDestination() verdict: DestinationVerdict,
  ): Promise<DestinationView> {
    return this.service.registerWithChosenSecret(caller, body, verdict);
  }

  /** Registers a destination and makes its secret; the answer is the only one that shows it. */
  @Post('api/pro/partner/webhooks')
  @ChecksDestination(RegisterPartnerWebhookBody)
  @Route({
    auth: 'member',
    role: 'admin',
    limit: specified('/api/pro/partner/webhooks'),
    secretAnswer: true,
    returns: { 201: NewDestination },
    errors: [InvalidDestination, TooManyDestinations],
  })
  createWithNewSecret(
    @CurrentCaller() caller: Caller,
    @Body() body: RegisterPartnerWebhookBody,
    @CheckedDestination() verdict: DestinationVerdict,
  ): Promise<NewDestination> {
    return this.service.registerWithNewSecret(caller, body, verdict);
  }

  /** The destinations of the workspace, newest first. */
  @Get(['api/pro/webhooks', 'api/admin/webhooks'])
  @Route({ auth: 'member', replica: true, role: 'admin', returns: { 200: DestinationPage } })
  async list(@CurrentCaller() caller: Caller, @Query() query: PageQuery): Promise<DestinationPage> {
    const page = await this.destinations.list(scopeOf(caller), query);
    const items = page.items.map(({ deliveries, ...destination }) => ({
      ...viewOf(destination),
      deliveries,
    }));
    return { ...page, items };
  }

  /** The same list, under the limit that the specification gives this path. */
  @Get('api/pro/partner/webhooks')
  @ApiExtension('x-alias-of', 'webhooks.list')
  @Route({
    auth: 'member',
    replica: true,
    role: 'admin',
    limit: specified('/api/pro/partner/webhooks'),
    returns: { 200: DestinationPage },
  })
  listPartner(@CurrentCaller() caller: Caller, @Query() query: PageQuery): Promise<DestinationPage> {
    return this.list(caller, query);
  }

  /** Changes its name, address or events. A new address lifts a pause, and takes an owner where an order allows posts to it. */
  @ApiParam(DESTINATION_PARAM)
  @Patch(destinationPaths())
  @ChecksDestination(ChangeDestinationBody)
  @Route({
    auth: 'member',
    role: 'admin',
    returns: { 200: DestinationView },
    errors: [NotFound, InvalidDestination],
  })
  change(
    @CurrentCaller() caller: Caller,
    @Param('id') destinationId: string,
    @Body() body: ChangeDestinationBody,
    @CheckedDestination() verdict: DestinationVerdict | undefined,
  ): Promise<DestinationView> {
    return this.service.change(caller, destinationId, body, verdict);
  }

  /** Deletes a destination; what still waits for it is given up. */
  @ApiParam(DESTINATION_PARAM)
  @Delete(destinationPaths())
  @Route({ auth: 'member', role: 'admin', returns: { 200: DestinationView }, errors: [NotFound] })
  delete(@CurrentCaller() caller: Caller, @Param('id') destinationId: string): Promise<DestinationView> {
    return this.service.delete(caller, destinationId);
  }

  /** Sends a `webhook.test` to this destination alone. */
  @ApiParam(DESTINATION_PARAM)
  @Post(destinationPaths('/test'))
  @Route({
    auth: 'member',
    role: 'admin',
    returns: { 202: DeliveryView },
    errors: [NotFound, InvalidTransition],
  })
  test(@CurrentCaller() caller: Caller, @Param('id') destinationId: string): Promise<DeliveryView> {
    return this.service.test(caller, destinationId);
  }

  /** Changes the secret. Each former secret goes on signing beside it for 24 hours from its own change. */
  @ApiParam(DESTINATION_PARAM)
  @Post(destinationPaths('/rotate-secret'))
  @Route({
    auth: 'member',
    role: 'admin',
    secretAnswer: true,
    returns: { 200: RotatedDestination },
    errors: [NotFound, InvalidTransition],
  })
  rotateSecret(
    @CurrentCaller() caller: Caller,
    @Param('id') destinationId: string,
    @Body() { secret }: RotateSecretBody,
  ): Promise<RotatedDestination> {
    return this.service.rotateSecret(caller, destinationId, secret);
  }

  /** Ends a pause; what waited goes out. */
  @ApiParam(DESTINATION_PARAM)
  @Post(destinationPaths('/resume'))
  @Route({
    auth: 'member',
    role: 'admin',
    returns: { 200: DestinationView },
    errors: [NotFound, InvalidTransition],
  })
  resume(@CurrentCaller() caller: Caller, @Param('id') destinationId: string): Promise<DestinationView> {
    return this.service.resume(caller, destinationId);
  }
}

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
