export { DestinationChanges } from './destination.service.js';
export { type DestinationHealth, DestinationHealthReader, Destinations } from './destinations.repository.js';
export { destinationName, type DestinationTarget, nameInASentence, targetOf } from './destination-name.js';
export { lostStatement } from './deliveries.repository.js';
export { PostEvent, type Unsendable } from './send-delivery.js';
export { WebhooksModule } from './webhooks.module.js';
