import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { SignalsModule } from '../signals/signals.module.js';
import { ConcludeAttempt } from './conclude-attempt.js';
import { Deliveries } from './deliveries.repository.js';
import { Dispatcher } from './dispatcher.js';
import { SendDelivery } from './send-delivery.js';
import { Standings } from './standing.repository.js';

@Module({
  imports: [EventsModule, SignalsModule],
  providers: [Deliveries, Standings, ConcludeAttempt, SendDelivery, Dispatcher],
})
export class WebhooksModule {}
