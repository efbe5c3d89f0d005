export { licenceStatus } from './licence.js';
export { SubscriptionView } from './subscription.dto.js';
export { SubscriptionModule } from './subscription.module.js';
