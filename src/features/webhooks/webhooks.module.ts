import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Figures } from '../../platform/observability/figures.js';
import { EscalationsModule } from '../escalations/index.js';
import { EventsModule } from '../events/index.js';
import { RecordsModule } from '../records/index.js';
import { ChangeDestination } from './change-destination.js';
import { CompleteAttempt } from './complete-attempt.js';
import { DeleteDestination } from './delete-destination.js';
import { DeliveriesController } from './deliveries.controller.js';
import { Deliveries } from './deliveries.repository.js';
import { DeliveryLog } from './delivery-log.repository.js';
import { WebhookDeliveryEntity, WebhookEventEntity } from './delivery.entity.js';
import { DestinationChanges } from './destination-changes.js';
import { DestinationHealthReader } from './destination-health.reader.js';
import { WebhookDestinationEntity } from './destination.entity.js';
import { DestinationSecrets } from './destination-secrets.js';
import { DestinationsController } from './destinations.controller.js';
import { Destinations, pausedStatement } from './destinations.repository.js';
import { PostEvent } from './post-event.js';
import { EscalatedPauses } from './escalated-pauses.js';
import { Redeliver } from './redeliver.js';
import { RegisterDestination } from './register-destination.js';
import { ResumeDestination } from './resume-destination.js';
import { RotateDestinationSecret } from './rotate-destination-secret.js';
import { SendDelivery } from './send-delivery.js';
import { SignedHeaders } from './signed-headers.js';
import { TestDestination } from './test-destination.js';

/** @level 4 */
@Module({
  imports: [
    TypeOrmModule.forFeature([WebhookDestinationEntity, WebhookEventEntity, WebhookDeliveryEntity]),
    EscalationsModule,
    EventsModule,
    RecordsModule,
  ],
  controllers: [DestinationsController, DeliveriesController],
  providers: [
    Destinations,
    DestinationChanges,
    DestinationHealthReader,
    DestinationSecrets,
    RegisterDestination,
    ChangeDestination,
    DeleteDestination,
    TestDestination,
    RotateDestinationSecret,
    ResumeDestination,
    DeliveryLog,
    Redeliver,
    Deliveries,
    CompleteAttempt,
    EscalatedPauses,
    SendDelivery,
    SignedHeaders,
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
