import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Figures } from '../../platform/observability/figures.js';
import { EscalationsModule } from '../escalations/index.js';
import { EventsModule } from '../events/index.js';
import { RecordsModule } from '../records/index.js';
import { StandingOrdersModule } from '../standing-orders/index.js';
import { DeliveriesController, DestinationsController } from './webhooks.controller.js';
import { Deliveries } from './deliveries.repository.js';
import { WebhookDeliveryEntity, WebhookDestinationEntity, WebhookEventEntity } from './destination.entity.js';
import { DeliveryService } from './delivery.service.js';
import { DestinationChanges, DestinationService } from './destination.service.js';
import { DestinationHealthReader, Destinations, pausedStatement } from './destinations.repository.js';
import { DestinationSecrets } from './destination-secrets.js';
import { PostEvent, SendDelivery } from './send-delivery.js';

/** @level 4 */
@Module({
  imports: [
    TypeOrmModule.forFeature([WebhookDestinationEntity, WebhookEventEntity, WebhookDeliveryEntity]),
    EscalationsModule,
    EventsModule,
    RecordsModule,
    StandingOrdersModule,
  ],
  controllers: [DestinationsController, DeliveriesController],
  providers: [
    Destinations,
    DestinationChanges,
    DestinationHealthReader,
    DestinationSecrets,
    DestinationService,
    DeliveryService,
    Deliveries,
    SendDelivery,
    PostEvent,
  ],
  exports: [Destinations, DestinationChanges, DestinationHealthReader, PostEvent],
})
export class WebhooksModule {
  constructor(figures: Figures) {
    figures.declare({
      name: 'consigliere_destinations_paused',
      help: 'Destinations of events that are paused, since twenty deliveries in a row were given up',
      statement: pausedStatement,
    });
  }
}
